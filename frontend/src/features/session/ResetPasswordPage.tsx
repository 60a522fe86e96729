import { Button, PasswordInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { redeemPasswordReset } from '~/api/access'
import { Problem } from '~/lib/problem'
import { CentredPage, centredStyles } from '~/ui/CentredPage'
import { ActionError, Notice } from '~/ui/State'
import { SessionForm } from './SessionForm'
import { strings } from './strings'

/** The page that a reset link opens. `token` comes after "#", so that no server receives it with the page. */
export function ResetPasswordPage({ token, onDone }: { token: string; onDone: () => void }) {
  const reset = useMutation({ mutationFn: (password: string) => redeemPasswordReset(token, password) })
  const field = reset.error instanceof Problem ? reset.error.field('password') : undefined
  return (
    <CentredPage>
      <SessionForm
        title={strings.setNewPassword}
        onSubmit={(value) => (reset.isSuccess ? onDone() : reset.mutate(value('password')))}
      >
        {!token && <Notice tone="bad">{strings.linkIncomplete}</Notice>}
        {token && !reset.isSuccess && (
          <>
            <p className={centredStyles.lead}>{strings.newPasswordLead}</p>
            <PasswordInput
              label={strings.newPassword}
              description={strings.passwordHint}
              name="password"
              autoComplete="new-password"
              minLength={10}
              required
              withAsterisk={false}
              autoFocus
              error={field}
              visibilityToggleButtonProps={{ 'aria-label': strings.showPassword }}
            />
            <ActionError error={reset.error} />
            <Button type="submit" size="sm" loading={reset.isPending}>
              {strings.setPassword}
            </Button>
          </>
        )}
        {reset.isSuccess && (
          <>
            <Notice tone="good">{strings.passwordSet}</Notice>
            <Button type="submit" size="sm" autoFocus>
              {strings.signIn}
            </Button>
          </>
        )}
      </SessionForm>
    </CentredPage>
  )
}
