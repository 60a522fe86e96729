import { PasswordInput } from '@mantine/core'
import { useChangePassword } from '~/api/account'
import type { Account } from '~/api/types'
import { Problem } from '~/lib/problem'
import { formatDay } from '~/lib/time'
import { ActionForm } from '~/ui/ActionForm'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { strings } from './strings'

export function PasswordPanel({ account }: { account: Account }) {
  const change = useChangePassword()
  const clock = useClock()
  const field = (name: string) => (change.error instanceof Problem ? change.error.field(name) : undefined)
  const changedAt = account.password_changed_at

  function submit(form: FormData, element: HTMLFormElement) {
    change.mutate(
      { current_password: String(form.get('current')), new_password: String(form.get('new')) },
      { onSuccess: () => element.reset() },
    )
  }

  if (!changedAt) {
    return (
      <Panel title={strings.password}>
        <p className={pageStyles.lead}>{strings.noPassword}</p>
      </Panel>
    )
  }
  return (
    <Panel title={strings.password}>
      <p className={pageStyles.lead}>
        {strings.passwordChanged(formatDay(new Date(changedAt), clock))} {strings.passwordHint}
      </p>
      <ActionForm onSubmit={submit} doing={change} action={strings.changePassword}>
        {/* Password managers need to know whose password changes. */}
        <input type="text" autoComplete="username" value={account.user.email} readOnly hidden />
        <PasswordInput
          name="current"
          label={strings.currentPassword}
          autoComplete="current-password"
          required
          withAsterisk={false}
          error={field('current_password')}
          visibilityToggleButtonProps={{ 'aria-label': strings.showPassword }}
          w={240}
        />
        <PasswordInput
          name="new"
          label={strings.newPassword}
          autoComplete="new-password"
          minLength={10}
          required
          withAsterisk={false}
          error={field('new_password')}
          visibilityToggleButtonProps={{ 'aria-label': strings.showPassword }}
          w={240}
        />
      </ActionForm>
      {change.isSuccess && <Notice tone="good">{strings.passwordIsChanged}</Notice>}
    </Panel>
  )
}
