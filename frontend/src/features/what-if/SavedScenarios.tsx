import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { scenariosQuery, useChangeScenario, useDeleteScenario, useKeepScenario } from '~/api/scenarios'
import type { Scenario } from '~/api/types'
import type { Change } from '~/lib/changes'
import { Confirm } from '~/ui/Confirm'
import { pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { strings } from './strings'

interface Props {
  mesh: string
  changes: Change[]
  /** Find VMs for unplaced tasks. */
  place: boolean
  scenario: string | undefined
  onOpen: (scenario: Scenario | null) => void
}

/** Scenarios that were kept: opened, kept under a name, changed, forgotten. */
export function SavedScenarios({ mesh, changes, place, scenario, onOpen }: Props) {
  const { data: all } = useQuery(scenariosQuery)
  const ofMesh = (all ?? []).filter((scenario) => scenario.mesh.id === mesh)
  const open = ofMesh.find(({ id }) => id === scenario)
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
      <form className={pageStyles.form} onSubmit={submit} aria-label={strings.scenarios}>
        <NativeSelect
          label={strings.savedScenarios}
          value={open?.id ?? ''}
          onChange={(event) => onOpen(ofMesh.find(({ id }) => id === event.currentTarget.value) ?? null)}
          data={[{ value: '', label: strings.none }, ...ofMesh.map(({ id, name }) => ({ value: id, label: name }))]}
        />
        {open && (
          <>
            <Button
              variant="default"
              loading={change.isPending}
              onClick={() => change.mutate({ id: open.id, version: open.version, changes, place_waiting: place })}
            >
              {strings.saveChanges}
            </Button>
            <Button variant="default" onClick={() => setAsking(true)}>
              {strings.deleteEllipsis}
            </Button>
          </>
        )}
        <TextInput
          name="name"
          label={strings.scenarioName}
          required
          maxLength={100}
          placeholder={strings.scenarioExample}
        />
        <Button type="submit" variant="default" loading={keep.isPending} disabled={changes.length === 0}>
          {strings.save}
        </Button>
      </form>
      <ActionError error={keep.error ?? change.error} />
      {open && (
        <Confirm
          title={strings.deleteName(open.name)}
          action={strings.delete}
          about={asking ? open.id : null}
          doing={forget}
          onClose={() => setAsking(false)}
          onDone={() => onOpen(null)}
        >
          {strings.deleteEffect}
        </Confirm>
      )}
    </>
  )
}
