import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { EditorsOnly } from '~/api/EditorsOnly'
import { scenariosQuery, useChangeScenario, useDeleteScenario, useKeepScenario } from '~/api/scenarios'
import type { Scenario } from '~/api/types'
import { type Change, changeWords } from '~/lib/changes'
import { named } from '~/lib/options'
import { Problem } from '~/lib/problem'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { DeleteButton } from '~/ui/DeleteButton'
import { pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { useEdited } from '~/ui/useEdited'
import { useMissing } from '~/ui/useMissing'
import { periodName } from './periods'
import { strings } from './strings'

interface Props {
  mesh: string
  changes: Change[]
  /** Find VMs for unplaced tasks. */
  place: boolean
  /** Look-back; null: the newest windows. */
  minutes: number | null
  scenario: string | undefined
  onOpen: (scenario: Scenario | null) => void
}

/** Scenarios that were kept: opened, kept under a name, changed, forgotten. */
export function SavedScenarios({ mesh, changes, place, minutes, scenario, onOpen }: Props) {
  const { data: all } = useQuery(scenariosQuery)
  const ofMesh = (all ?? []).filter((scenario) => scenario.mesh.id === mesh)
  const open = ofMesh.find(({ id }) => id === scenario)
  const keep = useKeepScenario()
  const forget = useDeleteScenario()
  const missing = useMissing({ changes: changes.length === 0 ? strings.addChange : null })

  const field = (name: string) => (keep.error instanceof Problem ? keep.error.field(name) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!missing.isComplete) return // the field says so
    const name = String(new FormData(event.currentTarget).get('name')).trim()
    keep.mutate({ name, mesh, changes, place_waiting: place, minutes }, { onSuccess: onOpen })
  }

  return (
    <>
      <form className={pageStyles.form} onSubmit={submit} aria-label={strings.scenarios}>
        <Choice
          label={strings.savedScenarios}
          value={open?.id ?? ''}
          onChange={(value) => onOpen(ofMesh.find(({ id }) => id === value) ?? null)}
          none={strings.none}
          data={named(ofMesh)}
        />
        <EditorsOnly>
          {open && (
            <>
              <SaveChanges
                key={open.id}
                scenario={open}
                changes={changes}
                place={place}
                minutes={minutes}
                onOpen={onOpen}
              />
              <DeleteButton name={open.name} id={open.id} doing={forget} onDone={() => onOpen(null)}>
                {strings.deleteEffect}
              </DeleteButton>
            </>
          )}
          <TextInput
            name="name"
            label={strings.scenarioName}
            required
            {...longest(100)}
            placeholder={strings.scenarioExample}
            error={missing.at('changes') ?? field('name')}
          />
          <Button type="submit" variant="default" loading={keep.isPending} onClick={missing.onAttempt}>
            {strings.save}
          </Button>
        </EditorsOnly>
      </form>
      <ActionError error={keep.error} />
    </>
  )
}

interface SaveProps extends Pick<Props, 'changes' | 'place' | 'minutes' | 'onOpen'> {
  scenario: Scenario
}

/** Save the changes of the page under the open scenario, unless somebody else has changed it meanwhile. */
function SaveChanges({ scenario, changes, place, minutes, onOpen }: SaveProps) {
  const change = useChangeScenario()
  const stored = {
    changes: (scenario.request.changes ?? []) as Change[],
    place: scenario.request.place_waiting ?? false,
    minutes: scenario.request.minutes ?? null,
  }
  const edited = useEdited(stored, String(scenario.version), (fields) => ({
    [strings.changes]: fields.changes.map(changeWords).join('; '),
    [strings.placeWaiting]: fields.place ? strings.yes : strings.no,
    [strings.measurements]: periodName(fields.minutes),
  }))
  const take = () => {
    onOpen(scenario)
    return edited.take()
  }
  return (
    <>
      <Button
        variant="default"
        loading={change.isPending}
        onClick={() =>
          change.mutate(
            { id: scenario.id, version: Number(edited.version), changes, place_waiting: place, minutes },
            { onSuccess: () => edited.saved({ changes, place, minutes }) },
          )
        }
      >
        {strings.saveChanges}
      </Button>
      <ChangedMeanwhile edited={{ ...edited, take }} error={change.error} typed={() => ({ changes, place, minutes })} />
    </>
  )
}
