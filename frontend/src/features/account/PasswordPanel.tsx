import { Button, PasswordInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { useChangePassword } from '~/api/account'
import type { Account } from '~/api/types'
import { Problem } from '~/lib/problem'
import { formatDay } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { ActionError, Notice } from '~/ui/State'
import { strings } from './strings'

export function PasswordPanel({ account }: { account: Account }) {
  const change = useChangePassword()
  const clock = useClock()
  const field = (name: string) => (change.error instanceof Problem ? change.error.field(name) : undefined)
  const changedAt = account.password_changed_at

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const element = event.currentTarget
    const form = new FormData(element)
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
      <form className={pageStyles.form} onSubmit={submit}>
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
        <Button type="submit" size="sm" loading={change.isPending}>
          {strings.changePassword}
        </Button>
      </form>
      <ActionError error={change.error} />
      {change.isSuccess && <Notice tone="good">{strings.passwordIsChanged}</Notice>}
    </Panel>
  )
}
