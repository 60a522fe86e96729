import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId } from 'react'
import { sessionQuery, signIn, signOut } from '~/api/access'
import { acceptInvitation, type InvitationPreview, lookUpInvitation, switchTenant } from '~/api/members'
import { fieldsOf } from '~/lib/problem'
import { CentredPage, centredStyles } from '~/ui/CentredPage'
import { longest } from '~/ui/CheckedInput'
import { Mark } from '~/ui/Logo'
import { ButtonLink, TextLink } from '~/ui/links'
import { ActionError, errorText, Loading } from '~/ui/State'
import { strings } from './strings'

/** The page behind an invitation link. `onJoined` opens the tenant. */
export function InvitationPage({ token, onJoined }: { token: string | undefined; onJoined: () => void }) {
  const session = useQuery(sessionQuery)
  const preview = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => lookUpInvitation(token ?? ''),
    enabled: token !== undefined,
    retry: false,
  })
  if (token === undefined) return <Invalid title={strings.noToken}>{strings.noTokenLead}</Invalid>
  if (preview.error) return <Invalid title={strings.invalid}>{errorText(preview.error)}</Invalid>
  if (!preview.data || session.isPending) {
    return (
      <CentredPage>
        <Loading what={strings.invitationLower} />
      </CentredPage>
    )
  }
  const invitation = preview.data
  const person = session.data?.user.email
  return (
    <Frame title={strings.joinTitle(invitation.tenant_name)}>
      <p>{strings.joinLead(invitation.invited_by, invitation.role)}</p>
      {person === invitation.email ? (
        <Join token={token} email={person} onJoined={onJoined} />
      ) : person !== undefined ? (
        <WrongPerson invited={invitation.email} current={person} />
      ) : invitation.has_account ? (
        <>
          <p>{strings.accountExists(invitation.email)}</p>
          <ButtonLink to="/sign-in" search={{ next: '/invitation' }}>
            {strings.signInToJoin}
          </ButtonLink>
        </>
      ) : (
        <NewAccount token={token} invitation={invitation} onJoined={onJoined} />
      )}
    </Frame>
  )
}

function Frame({ title, children }: { title: string; children: ReactNode }) {
  const heading = useId()
  return (
    <CentredPage>
      <section className={centredStyles.form} aria-labelledby={heading}>
        <Mark size={36} />
        <h1 id={heading}>{title}</h1>
        {children}
      </section>
    </CentredPage>
  )
}

function Invalid({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Frame title={title}>
      <p role="alert">{children}</p>
      <TextLink size="md" to="/sign-in">
        {strings.goToSignIn}
      </TextLink>
    </Frame>
  )
}

/** The invited person is signed in: one button. */
function Join({ token, email, onJoined }: { token: string; email: string; onJoined: () => void }) {
  const join = useMutation({
    mutationFn: async () => switchTenant((await acceptInvitation({ token })).tenant_id),
    onSuccess: onJoined,
  })
  return (
    <>
      <p>{strings.signedInAs(email)}</p>
      <ActionError error={join.error} />
      <Button onClick={() => join.mutate()} loading={join.isPending}>
        {strings.join}
      </Button>
    </>
  )
}

function WrongPerson({ invited, current }: { invited: string; current: string }) {
  const queryClient = useQueryClient()
  const leave = useMutation({ mutationFn: signOut, onSuccess: () => queryClient.resetQueries() })
  return (
    <>
      <p role="alert">{strings.forAnother(invited, current)}</p>
      <ActionError error={leave.error} />
      <Button variant="default" onClick={() => leave.mutate()} loading={leave.isPending}>
        {strings.signOut}
      </Button>
    </>
  )
}

function NewAccount(props: { token: string; invitation: InvitationPreview; onJoined: () => void }) {
  const { token, invitation, onJoined } = props
  const create = useMutation({
    mutationFn: async ({ name, password }: { name: string; password: string }) => {
      await acceptInvitation({ token, name, password })
      return signIn(invitation.email, password)
    },
    onSuccess: onJoined,
  })
  const field = fieldsOf(create)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    create.mutate({ name: String(form.get('name')).trim(), password: String(form.get('password')) })
  }

  return (
    <form className={centredStyles.fields} onSubmit={submit}>
      <TextInput label={strings.email} type="email" autoComplete="username" value={invitation.email} readOnly />
      <TextInput
        label={strings.yourName}
        {...field('name')}
        autoComplete="name"
        required
        withAsterisk={false}
        {...longest(100)}
        data-autofocus
      />
      <PasswordInput
        label={strings.password}
        description={strings.passwordHint}
        {...field('password')}
        autoComplete="new-password"
        required
        withAsterisk={false}
        minLength={10}
        visibilityToggleButtonProps={{ 'aria-label': strings.showPassword }}
      />
      <ActionError error={create.error} />
      <Button type="submit" size="sm" loading={create.isPending}>
        {strings.createAccount}
      </Button>
    </form>
  )
}
