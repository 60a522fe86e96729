import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { sendSecondFactor } from '~/api/access'
import type { Session } from '~/api/types'
import { ActionError } from '~/ui/State'
import { SessionForm } from './SessionForm'
import styles from './session.module.css'
import { strings } from './strings'

export function SecondFactorStep({
  onSignedIn,
  onBack,
}: {
  onSignedIn: (session: Session) => void
  onBack: () => void
}) {
  const attempt = useMutation({ mutationFn: sendSecondFactor, onSuccess: onSignedIn })
  return (
    <SessionForm title={strings.secondFactor} onSubmit={(value) => attempt.mutate(value('code').trim())}>
      <p className={styles.lead}>{strings.secondFactorLead}</p>
      <TextInput
        label={strings.code}
        name="code"
        autoComplete="one-time-code"
        minLength={6}
        maxLength={40}
        required
        withAsterisk={false}
        autoFocus
      />
      <ActionError error={attempt.error} />
      <Button type="submit" size="sm" loading={attempt.isPending}>
        {strings.signIn}
      </Button>
      <Button variant="subtle" size="compact-sm" onClick={onBack}>
        {strings.backToSignIn}
      </Button>
    </SessionForm>
  )
}
