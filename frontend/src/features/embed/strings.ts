/** Texts of embedded pages. */

export const strings = {
  thisView: 'This view',
  viewLower: 'this view',
  ended: 'This link has ended',
  endedLead: 'It expired or was revoked. Ask the person who shared it for a new one.',
  noToken: 'This address is incomplete',
  noTokenLead: 'The part after # is missing: copy the whole address of the link.',
  openConsole: 'Open Sinemora',
}
