import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '~/api/access'
import type { Factor, Session } from '~/api/types'
import { CentredPage } from '~/ui/CentredPage'
import { ForgottenPassword } from './ForgottenPassword'
import { PasswordStep } from './PasswordStep'
import { SecondFactorStep } from './SecondFactorStep'
import type { SignInSearch } from './search'

type Step = 'password' | 'second factor' | 'forgotten password'

interface Props {
  search: SignInSearch
  onSignedIn: (session: Session) => void
}

export function SignInPage({ search, onSignedIn }: Props) {
  const queryClient = useQueryClient()
  const [step, setStep] = useState<Step>(search.factors ? 'second factor' : 'password')
  const [factors, setFactors] = useState<Factor[]>(search.factors ?? [])

  function open(session: Session) {
    // No data of an earlier session may remain.
    queryClient.clear()
    queryClient.setQueryData(sessionQuery.queryKey, session)
    onSignedIn(session)
  }

  return (
    <CentredPage>
      {step === 'password' && (
        <PasswordStep
          search={search}
          onSignedIn={open}
          onFactorNeeded={(needed) => {
            setFactors(needed)
            setStep('second factor')
          }}
          onForgotten={() => setStep('forgotten password')}
        />
      )}
      {step === 'second factor' && (
        <SecondFactorStep factors={factors} onSignedIn={open} onBack={() => setStep('password')} />
      )}
      {step === 'forgotten password' && <ForgottenPassword onBack={() => setStep('password')} />}
    </CentredPage>
  )
}
