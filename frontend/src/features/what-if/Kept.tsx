import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { scenariosQuery, useChangeScenario, useDeleteScenario, useKeepScenario } from '~/api/scenarios'
import type { Scenario } from '~/api/types'
import type { Change } from '~/lib/changes'
import { Confirm } from '~/ui/Confirm'
import { pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'

interface Props {
  mesh: string
  changes: Change[]
  /** Whether VMs are looked for for tasks that wait. */
  place: boolean
  scenario: string | undefined
  onOpen: (scenario: Scenario | null) => void
}

/** Scenarios that were kept: opened, kept under a name, changed, forgotten. */
export function Kept({ mesh, changes, place, scenario, onOpen }: Props) {
  const { data: all } = useQuery(scenariosQuery)
  const mine = (all ?? []).filter((one) => one.mesh.id === mesh)
  const open = mine.find(({ id }) => id === scenario)
  const keep = useKeepScenario()
  const change = useChangeScenario()
  const forget = useDeleteScenario()
  const [asking, setAsking] = useState(false)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name')).trim()
    keep.mutate({ name, mesh, changes, place_waiting: place }, { onSuccess: onOpen })
  }

  return (
    <>
      <form className={pageStyles.form} onSubmit={submit} aria-label="Scenarios">
        <NativeSelect
          label="Kept scenarios"
          value={open?.id ?? ''}
          onChange={(event) => onOpen(mine.find(({ id }) => id === event.currentTarget.value) ?? null)}
          data={[{ value: '', label: 'None' }, ...mine.map(({ id, name }) => ({ value: id, label: name }))]}
        />
        {open && (
          <>
            <Button
              variant="default"
              loading={change.isPending}
              onClick={() => change.mutate({ id: open.id, version: open.version, changes, place_waiting: place })}
            >
              Keep changes
            </Button>
            <Button variant="default" onClick={() => setAsking(true)}>
              Forget…
            </Button>
          </>
        )}
        <TextInput name="name" label="Keep under a name" required maxLength={100} placeholder="zone b fails" />
        <Button type="submit" variant="default" loading={keep.isPending} disabled={changes.length === 0}>
          Keep
        </Button>
      </form>
      <ActionError error={keep.error ?? change.error} />
      {open && (
        <Confirm
          title={`Forget ${open.name}`}
          action="Forget"
          about={asking ? open.id : null}
          doing={forget}
          onClose={() => setAsking(false)}
          onDone={() => onOpen(null)}
        >
          The changes stay on this page; the scenario is gone.
        </Confirm>
      )}
    </>
  )
}
