import { createFileRoute, useNavigate, useRouter } from '@tanstack/react-router'
import { SignInPage } from '~/features/session/SignInPage'
import { signInSearch } from '~/features/session/search'
import { PublicTitle } from '~/features/shell/DocumentTitle'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/sign-in')({
  staticData: { title: strings.signIn },
  validateSearch: signInSearch,
  component: SignIn,
})

function SignIn() {
  const search = Route.useSearch()
  const { next } = search
  const navigate = useNavigate()
  const router = useRouter()
  return (
    <>
      <PublicTitle />
      <SignInPage
        search={search}
        onSignedIn={({ second_factor_due }) => {
          if (second_factor_due) void navigate({ to: '/second-factor', search: next ? { next } : {} })
          else if (next) router.history.push(next)
          else void navigate({ to: '/' })
        }}
      />
    </>
  )
}
