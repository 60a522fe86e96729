import { useQueryClient } from '@tanstack/react-query'
import { createFileRoute, redirect, useRouter } from '@tanstack/react-router'
import { sessionQuery } from '~/api/access'
import { RequiredSecondFactor } from '~/features/account/RequiredSecondFactor'
import { signInSearch } from '~/features/session/search'
import { PublicTitle } from '~/features/shell/DocumentTitle'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/second-factor')({
  staticData: { title: strings.secondFactor },
  validateSearch: signInSearch,
  beforeLoad: async ({ context }) => {
    if (!(await context.queryClient.ensureQueryData(sessionQuery))) throw redirect({ to: '/sign-in' })
  },
  component: SecondFactor,
})

function SecondFactor() {
  const { next } = Route.useSearch()
  const router = useRouter()
  const queryClient = useQueryClient()
  return (
    <>
      <PublicTitle />
      <RequiredSecondFactor
        onDone={() => {
          queryClient.clear()
          router.history.push(next ?? '/')
        }}
      />
    </>
  )
}
