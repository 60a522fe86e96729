/** The secret of an invitation link, kept in this tab while the invited person signs in. */

const KEY = 'sinemora-invitation'

/** Return the token of the address (`#token=…`), or the one that this tab keeps. It never is in a URL that is sent. */
export function invitationToken(hash: string): string | undefined {
  const given = new URLSearchParams(hash.replace(/^#/, '')).get('token')
  if (given) sessionStorage.setItem(KEY, given)
  return given ?? sessionStorage.getItem(KEY) ?? undefined
}

/** Forget the token once the invitation is accepted. */
export const forgetInvitationToken = () => sessionStorage.removeItem(KEY)
