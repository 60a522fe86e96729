import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type Confirmation, shownError } from '~/api/confirmation'
import { passkeyError, passkeysSupported, useCreatePasskey, useDeletePasskey } from '~/api/passkeys'
import type { Account } from '~/api/types'
import { formatDay } from '~/lib/time'
import { longest } from '~/ui/CheckedInput'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { FactorRow } from './FactorRow'
import { strings } from './strings'

interface Props {
  account: Account
  confirmation: Confirmation
  onCodes: (codes: string[] | null) => void
}

/** Passkeys of the person, and the form that adds one. */
export function Passkeys({ account, confirmation, onCodes }: Props) {
  const clock = useClock()
  const create = useCreatePasskey()
  const remove = useDeletePasskey()
  const [removing, setRemoving] = useState<Account['passkeys'][number] | null>(null)
  const day = (at: string) => formatDay(new Date(at), clock)

  function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const element = event.currentTarget
    const name = String(new FormData(element).get('name')).trim()
    const act = () =>
      create.mutate(name, {
        onError: (error) => confirmation.ask(error, act),
        onSuccess: ({ recovery_codes }) => {
          element.reset()
          if (recovery_codes) onCodes(recovery_codes)
        },
      })
    act()
  }

  function end(id: string) {
    remove.mutate(id, {
      onSuccess: () => setRemoving(null),
      onError: (error) => {
        confirmation.ask(error, () => end(id))
        if (shownError(error) === null) setRemoving(null)
      },
    })
  }

  return (
    <>
      {account.passkeys.map((passkey) => (
        <FactorRow
          key={passkey.id}
          name={strings.passkey(passkey.name)}
          state={strings.passkeyAdded(day(passkey.created_at), passkey.last_used_at && day(passkey.last_used_at))}
        >
          <Button
            variant="default"
            size="sm"
            aria-label={strings.removePasskey(passkey.name)}
            onClick={() => setRemoving(passkey)}
          >
            {strings.remove}
          </Button>
        </FactorRow>
      ))}
      {passkeysSupported() ? (
        <form className={pageStyles.form} onSubmit={add}>
          <TextInput
            name="name"
            label={strings.newPasskey}
            description={strings.passkeyHint}
            placeholder={strings.passkeyExample}
            {...longest(100)}
            required
            withAsterisk={false}
            w={320}
          />
          <Button type="submit" size="sm" loading={create.isPending}>
            {strings.addPasskey}
          </Button>
        </form>
      ) : (
        <p className={pageStyles.lead}>{strings.passkeysNeedHttps}</p>
      )}
      <ActionError error={shownError(passkeyError(create.error))} />
      <Confirm
        title={strings.removePasskey(removing?.name ?? '')}
        action={strings.remove}
        about={removing?.id ?? null}
        doing={{ ...remove, mutate: end, error: shownError(remove.error) }}
        onClose={() => setRemoving(null)}
      >
        {strings.removePasskeyEffect}
      </Confirm>
    </>
  )
}
