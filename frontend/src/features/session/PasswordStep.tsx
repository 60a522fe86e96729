import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { domainQuery, providerQuery, providerUrl, type SignedIn, signIn } from '~/api/access'
import { passkeyError, passkeysSupported, signInWithPasskey } from '~/api/passkeys'
import { Problem } from '~/lib/problem'
import { ActionError, Notice } from '~/ui/State'
import { SessionForm } from './SessionForm'
import type { SignInSearch } from './search'
import { strings } from './strings'

interface Props {
  search: SignInSearch
  keepsPage: boolean
  onSignedIn: (result: SignedIn) => void
  onForgotten: () => void
}

export function PasswordStep({ search, keepsPage, onSignedIn, onForgotten }: Props) {
  const attempt = useMutation({
    mutationFn: ({ email, password }: { email: string; password: string }) => signIn(email, password),
    onSuccess: onSignedIn,
    onError: (error) => {
      if (error instanceof Problem && error.code === 'single_sign_on_required') setByPassword(false)
    },
  })
  const provider = useQuery(providerQuery)
  const [email, setEmail] = useState('')
  const ofDomain = useQuery(domainQuery(email)).data?.of_domain ?? false
  const [byPassword, setByPassword] = useState(false)
  const leads = ofDomain && !byPassword
  const tab = keepsPage && { target: '_blank', rel: 'opener' }
  const passkey = useMutation({ mutationFn: signInWithPasskey, onSuccess: onSignedIn })
  return (
    <SessionForm
      title={strings.title}
      onSubmit={(value) => {
        if (!leads) attempt.mutate({ email: value('email').trim(), password: value('password') })
        else if (!keepsPage) location.assign(providerUrl(search.next, email))
      }}
    >
      {search.ended && !attempt.error && (
        <Notice tone="info">{keepsPage ? strings.sessionEndedHere : strings.sessionEnded}</Notice>
      )}
      {search.failed && !attempt.error && (
        <Notice tone="bad">{strings.providerFailures[search.failed] ?? strings.providerFailed}</Notice>
      )}
      <TextInput
        label={strings.email}
        name="email"
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        autoFocus
        onBlur={({ currentTarget }) => setEmail(currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && setEmail(currentTarget.value)}
      />
      {leads ? (
        <>
          <ActionError error={attempt.error} />
          <Button size="sm" component="a" href={providerUrl(search.next, email)} {...tab}>
            {keepsPage ? strings.singleSignOnInTab : strings.singleSignOn}
          </Button>
          <Button variant="default" size="sm" onClick={() => setByPassword(true)}>
            {strings.usePassword}
          </Button>
        </>
      ) : (
        <>
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
        </>
      )}
      {provider.data?.name && (
        <Button variant="default" size="sm" component="a" href={providerUrl(search.next)} {...tab}>
          {keepsPage ? strings.continueInTab(provider.data.name) : strings.continueWith(provider.data.name)}
        </Button>
      )}
      {passkeysSupported() && (
        <>
          <ActionError error={passkeyError(passkey.error)} />
          <Button variant="default" size="sm" onClick={() => passkey.mutate()} loading={passkey.isPending}>
            {strings.usePasskey}
          </Button>
        </>
      )}
      <Button variant="subtle" size="compact-sm" onClick={onForgotten}>
        {strings.forgottenPassword}
      </Button>
    </SessionForm>
  )
}
