import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId } from 'react'
import { sessionQuery, signIn } from '~/api/access'
import { Mark } from '~/ui/Logo'
import { ActionError, Notice } from '~/ui/State'
import styles from './session.module.css'
import { strings } from './strings'

export function SignInPage({ ended, onSignedIn }: { ended: boolean; onSignedIn: () => void }) {
  const queryClient = useQueryClient()
  const heading = useId()
  const attempt = useMutation({
    mutationFn: ({ email, password }: { email: string; password: string }) => signIn(email, password),
    onSuccess: (session) => {
      // No data of an earlier session may remain.
      queryClient.clear()
      queryClient.setQueryData(sessionQuery.queryKey, session)
      onSignedIn()
    },
  })

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    attempt.mutate({ email: String(form.get('email')).trim(), password: String(form.get('password')) })
  }

  return (
    <main className={styles.page}>
      <form className={styles.form} onSubmit={submit} aria-labelledby={heading}>
        <Mark size={36} />
        <h1 id={heading}>{strings.title}</h1>
        {ended && !attempt.error && <Notice tone="info">{strings.sessionEnded}</Notice>}
        <TextInput
          label={strings.email}
          name="email"
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          autoFocus
        />
        <PasswordInput
          label={strings.password}
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ 'aria-label': strings.showPassword }}
        />
        <ActionError error={attempt.error} />
        <Button type="submit" size="sm" loading={attempt.isPending}>
          {strings.signIn}
        </Button>
      </form>
    </main>
  )
}
