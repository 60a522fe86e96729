import { useQueryClient } from '@tanstack/react-query'
import { sessionQuery } from '~/api/access'
import type { Session } from '~/api/types'
import { CentredPage } from '~/ui/CentredPage'
import { SignInSteps } from './SignInSteps'
import type { SignInSearch } from './search'

interface Props {
  search: SignInSearch
  onSignedIn: (session: Session) => void
}

export function SignInPage({ search, onSignedIn }: Props) {
  const queryClient = useQueryClient()

  function open(session: Session) {
    // No data of an earlier session may remain.
    queryClient.clear()
    queryClient.setQueryData(sessionQuery.queryKey, session)
    onSignedIn(session)
  }

  return (
    <CentredPage>
      <SignInSteps search={search} onSignedIn={open} />
    </CentredPage>
  )
}
