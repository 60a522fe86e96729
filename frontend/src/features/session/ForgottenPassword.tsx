import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { requestPasswordReset } from '~/api/access'
import { centredStyles } from '~/ui/CentredPage'
import { ActionError, Notice } from '~/ui/State'
import { SessionForm } from './SessionForm'
import { strings } from './strings'

export function ForgottenPassword({ onBack }: { onBack: () => void }) {
  const request = useMutation({ mutationFn: requestPasswordReset })
  return (
    <SessionForm title={strings.forgottenPassword} onSubmit={(value) => request.mutate(value('email').trim())}>
      <p className={centredStyles.lead}>{strings.resetLead}</p>
      <TextInput
        label={strings.email}
        name="email"
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        autoFocus
      />
      <ActionError error={request.error} />
      {request.isSuccess && <Notice tone="good">{strings.linkSent}</Notice>}
      <Button type="submit" size="sm" loading={request.isPending}>
        {strings.sendLink}
      </Button>
      <Button variant="subtle" size="compact-sm" onClick={onBack}>
        {strings.backToSignIn}
      </Button>
    </SessionForm>
  )
}
