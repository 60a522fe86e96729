import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { createTotp, useCreateRecoveryCodes, useDeleteTotp } from '~/api/account'
import { type Confirmation, shownError, useConfirmation } from '~/api/confirmation'
import type { Account } from '~/api/types'
import { formatDay } from '~/lib/time'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { ProofDialog } from '~/ui/ProofDialog'
import { ActionError } from '~/ui/State'
import { FactorRow } from './FactorRow'
import { Passkeys } from './Passkeys'
import { RecoveryCodes } from './RecoveryCodes'
import { strings } from './strings'
import { TotpSetup } from './TotpSetup'

/** Second factors of the person, and recovery codes once there is one. */
export function SecondFactorsPanel({ account }: { account: Account }) {
  const [codes, setCodes] = useState<string[] | null>(null)
  const confirmation = useConfirmation()
  return (
    <Panel title={strings.secondFactors} term="second factor">
      <p className={pageStyles.lead}>
        {account.factors.length ? strings.secondFactorsLead : strings.noFactors}{' '}
        {account.required_by.length > 0 && strings.requiredBy(account.required_by.join(', '))}
      </p>
      {codes && <RecoveryCodes codes={codes} onKept={() => setCodes(null)} />}
      <App account={account} confirmation={confirmation} onCodes={setCodes} />
      <Passkeys account={account} confirmation={confirmation} onCodes={setCodes} />
      {account.factors.length > 0 && (
        <Codes left={account.recovery_codes_left} confirmation={confirmation} onCodes={setCodes} />
      )}
      <ProofDialog proof={confirmation} />
    </Panel>
  )
}

interface Part {
  confirmation: Confirmation
  onCodes: (codes: string[] | null) => void
}

function App({ account, confirmation, onCodes }: Part & { account: Account }) {
  const clock = useClock()
  const create = useMutation({ mutationFn: createTotp })
  const remove = useDeleteTotp()
  const [removing, setRemoving] = useState(false)
  const begin = () => create.mutate(undefined, { onError: (error) => confirmation.ask(error, begin) })

  function end() {
    const onError = (error: unknown) => {
      confirmation.ask(error, end)
      if (shownError(error) === null) setRemoving(false)
    }
    remove.mutate(undefined, { onError, onSuccess: () => setRemoving(false) })
  }

  return (
    <>
      <FactorRow
        name={strings.app}
        state={account.totp && strings.appAdded(formatDay(new Date(account.totp.created_at), clock))}
      >
        {account.totp ? (
          <Button variant="default" size="sm" aria-label={strings.removeApp} onClick={() => setRemoving(true)}>
            {strings.remove}
          </Button>
        ) : (
          !create.data && (
            <Button size="sm" onClick={begin} loading={create.isPending}>
              {strings.addApp}
            </Button>
          )
        )}
      </FactorRow>
      <ActionError error={shownError(create.error)} />
      {create.data && !account.totp && (
        <TotpSetup
          setup={create.data}
          onDone={(codes) => {
            create.reset()
            onCodes(codes)
          }}
        />
      )}
      <Confirm
        title={strings.removeApp}
        action={strings.remove}
        about={removing ? 'totp' : null}
        doing={{ ...remove, mutate: end, error: shownError(remove.error) }}
        onClose={() => setRemoving(false)}
      >
        {strings.removeAppEffect}
      </Confirm>
    </>
  )
}

function Codes({ left, confirmation, onCodes }: Part & { left: number }) {
  const create = useCreateRecoveryCodes()
  const [asking, setAsking] = useState(false)

  function renew() {
    const onError = (error: unknown) => {
      confirmation.ask(error, renew)
      if (shownError(error) === null) setAsking(false)
    }
    create.mutate(undefined, {
      onError,
      onSuccess: ({ recovery_codes }) => {
        setAsking(false)
        onCodes(recovery_codes)
      },
    })
  }

  return (
    <>
      <FactorRow name={strings.recoveryCodes} state={strings.codesLeft(left)}>
        <Button variant="default" size="sm" onClick={() => setAsking(true)}>
          {strings.newCodes}
        </Button>
      </FactorRow>
      <Confirm
        title={strings.newCodes}
        action={strings.createCodes}
        about={asking ? 'codes' : null}
        doing={{ ...create, mutate: renew, error: shownError(create.error) }}
        onClose={() => setAsking(false)}
      >
        {strings.newCodesEffect}
      </Confirm>
    </>
  )
}
