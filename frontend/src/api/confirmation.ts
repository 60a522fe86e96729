/** Ask who is at the browser before a sensitive change that the server refuses without a recent proof. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '~/lib/problem'
import { providerUrl } from './access'
import { accountQuery, confirmIdentity } from './account'
import { confirmWithPasskey, passkeyError, passkeysSupported } from './passkeys'

const isAsking = (error: unknown) => error instanceof Problem && error.code === 'confirmation_required'

/** Return an error for display: a request for a confirmation opens a dialog instead. */
export const shownError = (error: unknown) => (isAsking(error) ? null : error)

export type Confirmation = ReturnType<typeof useConfirmation>

/**
 * `ask` is for `onError`: it asks for a proof if the action needs one, then acts `again`. The rest is what
 * `ProofDialog` shows.
 */
export function useConfirmation() {
  const [again, setAgain] = useState<(() => void) | null>(null)
  const { data: account } = useQuery({ ...accountQuery, enabled: again !== null })
  const factors = account?.factors ?? []
  const byCode = factors.length > 0
  const onSuccess = () => {
    setAgain(null)
    again?.()
  }
  const confirm = useMutation({ mutationFn: confirmIdentity, onSuccess })
  const byPasskey = useMutation({ mutationFn: confirmWithPasskey, onSuccess })
  return {
    ask: (error: unknown, action: () => void) => {
      if (isAsking(error)) setAgain(() => action)
    },
    isOpen: again !== null && account !== undefined,
    close: () => {
      confirm.reset()
      byPasskey.reset()
      setAgain(null)
    },
    /** A code of a second factor, the password, or a new sign-in at the provider. */
    kind: byCode ? ('code' as const) : account?.password_changed_at ? ('password' as const) : ('provider' as const),
    providerUrl: providerUrl(location.pathname, account?.of_one_tenant ? account.user.email : undefined),
    prove: (proof: string) => confirm.mutate(byCode ? { code: proof.trim() } : { password: proof }),
    usePasskey: factors.includes('passkey') && passkeysSupported() ? () => byPasskey.mutate() : null,
    isPending: confirm.isPending || byPasskey.isPending,
    error: confirm.error ?? passkeyError(byPasskey.error),
  }
}
