import { Button, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { applicationsQuery } from '~/api/applications'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import { whatIfQuery } from '~/api/scenarios'
import { type Change, changeWords, parseChanges } from '~/lib/changes'
import { named } from '~/lib/options'
import type { Patch } from '~/lib/searchParams'
import { Choice } from '~/ui/Choice'
import { ButtonLink } from '~/ui/links'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { ActionError, Empty, Failed, Loading } from '~/ui/State'
import { Term } from '~/ui/Term'
import { Board } from './Board'
import { ChangeForms } from './ChangeForms'
import { periodOptions } from './periods'
import { Results } from './Results'
import { SavedScenarios } from './SavedScenarios'
import styles from './scenarios.module.css'
import type { WhatIfSearch } from './search'
import { strings } from './strings'

interface Props {
  search: WhatIfSearch
  onSearch: (patch: Patch<WhatIfSearch>) => void
}

/** The effect of changed tasks, VMs, zones, paths or curves on all applications. Simulation only. */
export function WhatIfPage({ search, onSearch }: Props) {
  const meshes = useQuery(meshesQuery)
  if (meshes.error && !meshes.data) return <Failed what={strings.meshes} error={meshes.error} />
  if (!meshes.data) return <LoadingPage title={strings.whatIf} what={strings.meshesLower} />
  const mesh = meshes.data.find(({ id }) => id === search.mesh) ?? meshes.data[0]
  if (!mesh) {
    return (
      <Empty title={strings.noMesh} action={<ButtonLink to="/onboarding">{strings.newMesh}</ButtonLink>}>
        {strings.noMeshLead}
      </Empty>
    )
  }
  return (
    <Page title={strings.whatIf} lead={strings.whatIfLead}>
      <div className={pageStyles.form}>
        <Choice
          label={strings.mesh}
          value={mesh.id}
          onChange={(mesh) => onSearch({ mesh, changes: undefined, scenario: undefined })}
          data={named(meshes.data)}
        />
        <Choice
          label={<Term of="look-back">{strings.measurements}</Term>}
          value={String(search.minutes ?? '')}
          onChange={(value) => onSearch({ minutes: Number(value) || undefined })}
          data={periodOptions(search.minutes ?? null)}
        />
      </div>
      <Workspace mesh={mesh.id} search={search} onSearch={onSearch} />
    </Page>
  )
}

function Workspace({ mesh, search, onSearch }: Props & { mesh: string }) {
  const changes = search.changes ?? []
  const minutes = search.minutes ?? null
  const roster = useQuery(rosterQuery(mesh))
  const applications = useQuery(applicationsQuery)
  const result = useQuery(whatIfQuery(mesh, changes, search.place ?? false, minutes))
  const broken = (!roster.data && roster.error) || (!applications.data && applications.error)
  if (broken) return <Failed what={strings.theMesh} error={broken} />
  if (!roster.data || !applications.data) return <Loading what={strings.meshLower} />
  const { vms } = roster.data
  if (vms.length === 0) {
    return (
      <Empty
        title={strings.meshWithoutVm}
        action={
          <ButtonLink to="/onboarding" search={{ mesh }}>
            {strings.addVm}
          </ButtonLink>
        }
      >
        {strings.meshWithoutVmLead}
      </Empty>
    )
  }
  const ofMesh = applications.data.filter((application) => application.mesh.id === mesh)
  const set = (next: Change[]) => onSearch({ changes: next.length > 0 ? next : undefined })
  const add = (change: Change) => set([...changes, change])
  return (
    <>
      <Board vms={vms} applications={ofMesh} changes={changes} onChange={add} />
      <Panel title={strings.changes}>
        <ChangeForms vms={vms} applications={ofMesh} onChange={add} />
        {changes.length > 0 && (
          <>
            <ol className={styles.changes} aria-label={strings.changesInOrder}>
              {changes.map((change, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the same change may be made twice
                <li key={at}>
                  {changeWords(change)}{' '}
                  <button
                    type="button"
                    className={styles.here}
                    aria-label={strings.undoChange(changeWords(change))}
                    onClick={() => set(changes.filter((_, other) => other !== at))}
                  >
                    {strings.undo}
                  </button>
                </li>
              ))}
            </ol>
            <div>
              <Button variant="default" onClick={() => set([])}>
                {strings.undoAll}
              </Button>
            </div>
          </>
        )}
        <Switch
          label={strings.placeWaiting}
          checked={search.place ?? false}
          onChange={(event) => onSearch({ place: event.currentTarget.checked || undefined })}
        />
        <SavedScenarios
          mesh={mesh}
          changes={changes}
          place={search.place ?? false}
          minutes={minutes}
          scenario={search.scenario}
          onOpen={(scenario) =>
            onSearch(
              scenario
                ? {
                    scenario: scenario.id,
                    changes: parseChanges(scenario.request.changes),
                    place: scenario.request.place_waiting || undefined,
                    minutes: scenario.request.minutes ?? undefined,
                  }
                : { scenario: undefined },
            )
          }
        />
      </Panel>
      <ActionError error={result.error} />
      {result.data ? <Results result={result.data} /> : !result.error && <Loading what={strings.resultsLower} />}
    </>
  )
}
