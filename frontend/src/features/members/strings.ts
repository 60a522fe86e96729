/** Texts of members and invitations. */

import type { Role } from '~/api/members'
import { words } from '~/lib/words'

const ROLE_NAMES: Record<Role, string> = { viewer: 'Viewer', editor: 'Editor', admin: 'Admin', owner: 'Owner' }

export const strings = {
  ...words,
  membersLower: 'members',
  lead: 'People who can open this tenant, and what each may do.',
  roleName: (role: Role) => ROLE_NAMES[role],
  roles: 'Roles',
  roleMay: {
    viewer: 'Sees measurements, incidents and applications, of all meshes or of chosen ones.',
    editor: 'Also changes meshes, rules, receivers and applications.',
    admin: 'Also manages members and API keys, and reads the audit log.',
    owner: 'Also transfers, renames, exports and deletes the tenant.',
  } satisfies Record<Role, string>,
  may: 'May',
  person: 'Person',
  role: 'Role',
  since: 'Member since',
  singleSignOn: 'Last single sign-on',
  every: 'All',
  noMeshLeft: 'None',
  meshesOf: (person: string) => `Meshes of ${person}`,
  changeMeshes: (person: string) => `Change the meshes of ${person}`,
  meshesHint:
    'A person limited to some meshes sees nothing of the others: no VMs, incidents, applications or measurements. They cannot change what belongs to the whole tenant, such as zones, receivers and curves.',
  seesAllAgain: (now: string) =>
    `Without a choice the person sees all meshes, also future ones. Meshes they see now: ${now}.`,
  you: '(you)',
  roleOf: (person: string) => `Role of ${person}`,
  removePerson: (person: string) => `Remove ${person}`,
  removeEffect: 'Their browser sessions in this tenant and their personal API keys end at once.',
  emailExample: 'ada@example.com',
  delivery: 'Delivery',
  byEmail: 'By e-mail',
  byLink: 'Link to copy',
  sendInvitation: 'Send invitation',
  sentTo: (email: string) => `Invitation to ${email} is on its way.`,
  linkFor: (email: string) => `Link for ${email} created.`,
  copyNow: 'Copy it now: it is shown only once, and works once.',
  invitationLink: 'Invitation link',
  invitations: 'Invitations',
  invitationsLower: 'invitations',
  noInvitations: 'No invitations yet.',
  invitedBy: 'Invited by',
  states: { pending: 'Pending', expired: 'Expired', accepted: 'Accepted', revoked: 'Revoked' },
  mailWaiting: 'E-mail not sent yet',
  mailFailed: 'E-mail failed',
  resendTo: (email: string) => `Send the invitation to ${email} again`,
  newLink: 'New link',
  newLinkFor: (email: string) => `Create a new link for ${email}`,
  revokeFor: (email: string) => `Revoke the invitation of ${email}`,
  revokeEffect: 'The link no longer works. You can invite the person again.',
  invitationLower: 'the invitation',
  joinTitle: (tenant: string) => `Join ${tenant}`,
  joinLead: (by: string, role: Role) => `${by} invites you as ${ROLE_NAMES[role].toLowerCase()}.`,
  noToken: 'Invitation link incomplete',
  noTokenLead: 'Open the link of the invitation again, or ask the sender for a new one.',
  invalid: 'Invitation not valid',
  goToSignIn: 'Go to sign-in',
  passwordHint: 'At least 10 characters',
  createAccount: 'Create account and join',
  signInToJoin: 'Sign in to join',
  accountExists: (email: string) => `${email} has an account. Sign in to accept.`,
  signedInAs: (email: string) => `You are signed in as ${email}.`,
  forAnother: (invited: string, current: string) =>
    `This invitation is for ${invited}, and you are signed in as ${current}.`,
  join: 'Join',
}

/** Return the meshes that somebody sees by name. */
export function meshNames(meshes: readonly { name: string }[] | null): string {
  if (meshes === null) return strings.every
  return meshes.length === 0 ? strings.noMeshLeft : meshes.map(({ name }) => name).join(', ')
}
