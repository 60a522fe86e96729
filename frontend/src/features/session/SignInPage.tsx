import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '~/api/access'
import type { Session } from '~/api/types'
import { ForgottenPassword } from './ForgottenPassword'
import { PasswordStep } from './PasswordStep'
import { SecondFactorStep } from './SecondFactorStep'
import styles from './session.module.css'

type Step = 'password' | 'second factor' | 'forgotten password'

export function SignInPage({ ended, onSignedIn }: { ended: boolean; onSignedIn: (session: Session) => void }) {
  const queryClient = useQueryClient()
  const [step, setStep] = useState<Step>('password')

  function open(session: Session) {
    // No data of an earlier session may remain.
    queryClient.clear()
    queryClient.setQueryData(sessionQuery.queryKey, session)
    onSignedIn(session)
  }

  return (
    <main className={styles.page}>
      {step === 'password' && (
        <PasswordStep
          ended={ended}
          onSignedIn={open}
          onFactorNeeded={() => setStep('second factor')}
          onForgotten={() => setStep('forgotten password')}
        />
      )}
      {step === 'second factor' && <SecondFactorStep onSignedIn={open} onBack={() => setStep('password')} />}
      {step === 'forgotten password' && <ForgottenPassword onBack={() => setStep('password')} />}
    </main>
  )
}
