import { Button, Group, PasswordInput, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { Dialog } from './Dialog'
import { ActionError } from './State'

const strings = {
  title: 'Confirm that it is you',
  withCode: 'This change needs a recent proof. Enter a code of your authenticator app, or a recovery code.',
  withPassword: 'This change needs a recent proof. Enter your password.',
  atProvider: 'This change needs a recent proof. Sign in again; then repeat the change.',
  signInAgain: 'Sign in again',
  withPasskey: 'Use a passkey',
  confirm: 'Confirm',
  cancel: 'Cancel',
  code: 'Code',
  password: 'Password',
  showPassword: 'Show password',
}

interface Props {
  proof: {
    isOpen: boolean
    close: () => void
    kind: 'code' | 'password' | 'provider'
    providerUrl: string
    prove: (proof: string) => void
    usePasskey: (() => void) | null
    isPending: boolean
    error: unknown
  }
}

/** Dialog that asks for a proof of who is at the browser. */
export function ProofDialog({ proof }: Props) {
  const { kind, usePasskey } = proof

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    proof.prove(String(new FormData(event.currentTarget).get('proof')))
  }

  if (kind === 'provider') {
    return (
      <Dialog title={strings.title} opened={proof.isOpen} onClose={proof.close}>
        <p>{strings.atProvider}</p>
        <Group justify="end" mt="md">
          <Button component="a" href={proof.providerUrl}>
            {strings.signInAgain}
          </Button>
        </Group>
      </Dialog>
    )
  }
  return (
    <Dialog title={strings.title} opened={proof.isOpen} onClose={proof.close}>
      <form onSubmit={submit}>
        <p>{kind === 'code' ? strings.withCode : strings.withPassword}</p>
        {kind === 'code' ? (
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
        <ActionError error={proof.error} />
        <Group justify="end" mt="md">
          <Button variant="default" onClick={proof.close}>
            {strings.cancel}
          </Button>
          {usePasskey && (
            <Button variant="default" onClick={usePasskey} loading={proof.isPending}>
              {strings.withPasskey}
            </Button>
          )}
          <Button type="submit" loading={proof.isPending}>
            {strings.confirm}
          </Button>
        </Group>
      </form>
    </Dialog>
  )
}
