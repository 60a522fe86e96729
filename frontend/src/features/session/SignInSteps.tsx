import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { firstAccountQuery, type SignedIn } from '~/api/access'
import type { Factor, Session } from '~/api/types'
import { FirstAccount } from './FirstAccount'
import { ForgottenPassword } from './ForgottenPassword'
import { PasswordStep } from './PasswordStep'
import { SecondFactorStep } from './SecondFactorStep'
import type { SignInSearch } from './search'

type Step = 'password' | 'second factor' | 'forgotten password'

interface Props {
  search: SignInSearch
  /** The page stays open: a provider signs in at another tab. */
  keepsPage?: boolean
  onSignedIn: (session: Session) => void
}

/** The steps of signing in: password or passkey, then a second factor if the account has one. */
export function SignInSteps({ search, keepsPage = false, onSignedIn }: Props) {
  const [step, setStep] = useState<Step>(search.factors ? 'second factor' : 'password')
  const [factors, setFactors] = useState<Factor[]>(search.factors ?? [])
  const firstAccount = useQuery(firstAccountQuery)

  function goOn(result: SignedIn) {
    if (!('factors' in result)) return onSignedIn(result)
    setFactors(result.factors)
    setStep('second factor')
  }

  if (firstAccount.data?.first_account_due) return <FirstAccount onCreated={goOn} />
  switch (step) {
    case 'password':
      return (
        <PasswordStep
          search={search}
          keepsPage={keepsPage}
          onSignedIn={goOn}
          onForgotten={() => setStep('forgotten password')}
        />
      )
    case 'second factor':
      return <SecondFactorStep factors={factors} onSignedIn={onSignedIn} onBack={() => setStep('password')} />
    case 'forgotten password':
      return <ForgottenPassword onBack={() => setStep('password')} />
  }
}
