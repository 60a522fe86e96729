import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { sendSecondFactor } from '~/api/access'
import { passkeyError, passkeysSupported, sendPasskey } from '~/api/passkeys'
import type { Factor, Session } from '~/api/types'
import { centredStyles } from '~/ui/CentredPage'
import { longest } from '~/ui/CheckedInput'
import { ActionError } from '~/ui/State'
import { SessionForm } from './SessionForm'
import { strings } from './strings'

interface Props {
  factors: readonly Factor[]
  onSignedIn: (session: Session) => void
  onBack: () => void
}

export function SecondFactorStep({ factors, onSignedIn, onBack }: Props) {
  const attempt = useMutation({ mutationFn: sendSecondFactor, onSuccess: onSignedIn })
  const passkey = useMutation({ mutationFn: sendPasskey, onSuccess: onSignedIn })
  return (
    <SessionForm title={strings.secondFactor} onSubmit={(value) => attempt.mutate(value('code').trim())}>
      <p className={centredStyles.lead}>
        {factors.includes('totp') ? strings.secondFactorLead : strings.secondFactorOfPasskey}
      </p>
      <TextInput
        label={strings.code}
        name="code"
        autoComplete="one-time-code"
        minLength={6}
        {...longest(40)}
        required
        withAsterisk={false}
        autoFocus
      />
      <ActionError error={attempt.error} />
      <Button type="submit" size="sm" loading={attempt.isPending}>
        {strings.signIn}
      </Button>
      {factors.includes('passkey') && passkeysSupported() && (
        <>
          <ActionError error={passkeyError(passkey.error)} />
          <Button variant="default" size="sm" onClick={() => passkey.mutate()} loading={passkey.isPending}>
            {strings.usePasskey}
          </Button>
        </>
      )}
      <Button variant="subtle" size="compact-sm" onClick={onBack}>
        {strings.backToSignIn}
      </Button>
    </SessionForm>
  )
}
