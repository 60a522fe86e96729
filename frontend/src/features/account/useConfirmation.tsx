import { Button, Group, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { providerUrl } from '~/api/access'
import { accountQuery, confirmIdentity } from '~/api/account'
import { confirmWithPasskey, passkeyError, passkeysSupported } from '~/api/passkeys'
import type { Factor } from '~/api/types'
import { Problem } from '~/lib/problem'
import { Dialog } from '~/ui/Dialog'
import { ActionError } from '~/ui/State'
import { strings } from './strings'

const isAsking = (error: unknown) => error instanceof Problem && error.code === 'confirmation_required'

/** Return an error for display: a request for a confirmation opens a dialog instead. */
export const shownError = (error: unknown) => (isAsking(error) ? null : error)

export interface Confirmation {
  /** For `onError`: ask for a proof if the action needs one, then act `again`. */
  ask: (error: unknown, again: () => void) => void
  dialog: ReactNode
}

/** Ask who is at the browser before a sensitive change that the server refuses without a recent proof. */
export function useConfirmation(factors: readonly Factor[]): Confirmation {
  const [again, setAgain] = useState<(() => void) | null>(null)
  return {
    ask: (error, action) => {
      if (isAsking(error)) setAgain(() => action)
    },
    dialog: <ConfirmationDialog factors={factors} again={again} onClose={() => setAgain(null)} />,
  }
}

function ConfirmationDialog(props: { factors: readonly Factor[]; again: (() => void) | null; onClose: () => void }) {
  const { factors, again, onClose } = props
  const byCode = factors.length > 0
  const { data: account } = useQuery(accountQuery)
  const confirm = useMutation({
    mutationFn: confirmIdentity,
    onSuccess: () => {
      onClose()
      again?.()
    },
  })

  const byPasskey = useMutation({
    mutationFn: confirmWithPasskey,
    onSuccess: () => {
      onClose()
      again?.()
    },
  })

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const proof = String(new FormData(event.currentTarget).get('proof'))
    confirm.mutate(byCode ? { code: proof.trim() } : { password: proof })
  }

  function close() {
    confirm.reset()
    onClose()
  }

  if (!byCode && account && !account.password_changed_at) {
    return (
      <Dialog title={strings.confirmTitle} opened={again !== null} onClose={close}>
        <p>{strings.confirmAtProvider}</p>
        <Group justify="end" mt="md">
          <Button component="a" href={providerUrl('/account')}>
            {strings.signInAgain}
          </Button>
        </Group>
      </Dialog>
    )
  }
  return (
    <Dialog title={strings.confirmTitle} opened={again !== null} onClose={close}>
      <form onSubmit={submit}>
        <p>{byCode ? strings.confirmWithCode : strings.confirmWithPassword}</p>
        {byCode ? (
          <TextInput
            name="proof"
            label={strings.code}
            autoComplete="one-time-code"
            required
            withAsterisk={false}
            data-autofocus
          />
        ) : (
          <PasswordInput
            name="proof"
            label={strings.password}
            autoComplete="current-password"
            required
            withAsterisk={false}
            data-autofocus
            visibilityToggleButtonProps={{ 'aria-label': strings.showPassword }}
          />
        )}
        <ActionError error={confirm.error ?? passkeyError(byPasskey.error)} />
        <Group justify="end" mt="md">
          <Button variant="default" onClick={close}>
            {strings.cancel}
          </Button>
          {factors.includes('passkey') && passkeysSupported() && (
            <Button variant="default" onClick={() => byPasskey.mutate()} loading={byPasskey.isPending}>
              {strings.confirmWithPasskey}
            </Button>
          )}
          <Button type="submit" loading={confirm.isPending}>
            {strings.confirm}
          </Button>
        </Group>
      </form>
    </Dialog>
  )
}
