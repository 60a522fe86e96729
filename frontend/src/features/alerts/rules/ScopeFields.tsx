import { MultiSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { applicationsQuery } from '~/api/applications'
import { rosterQuery } from '~/api/meshes'
import { Choice } from '~/ui/Choice'
import { Panel, pageStyles } from '~/ui/Page'
import { strings } from '../strings'
import type { PartProps } from './draft'

/** Names in a rule can be chosen even if the mesh no longer has them. */
const withChosen = (names: string[], chosen: string[]) => [...new Set([...names, ...chosen])]

/** The scope of a rule: a path must match every choice. */
export function ScopeFields({ draft, patch, wrong, meshId }: PartProps & { meshId: string }) {
  const roster = useQuery(rosterQuery(meshId)).data
  const applications = (useQuery(applicationsQuery).data ?? []).filter(({ mesh }) => mesh.id === meshId)
  const zones = (roster?.zones ?? []).map(({ name }) => name)
  const vms = (roster?.vms ?? []).map(({ name }) => name)
  const names = applications.map(({ name }) => name)
  const pairProblem = (pair: string[], what: string) => (pair.length === 1 ? strings.chooseSecond(what) : undefined)
  return (
    <Panel title={strings.scope}>
      <p className={pageStyles.lead}>{strings.scopeLead}</p>
      <div className={pageStyles.form}>
        <MultiSelect
          label={strings.inZones}
          searchable
          value={draft.zones}
          onChange={(chosen) => patch({ zones: chosen })}
          data={withChosen(zones, draft.zones)}
          w={230}
        />
        <MultiSelect
          label={strings.betweenZones}
          searchable
          maxValues={2}
          value={draft.zonePair}
          onChange={(chosen) => patch({ zonePair: chosen })}
          data={withChosen(zones, draft.zonePair)}
          error={wrong('scope/zone_pair') ?? pairProblem(draft.zonePair, strings.zoneNoun)}
          w={230}
        />
        <MultiSelect
          label={strings.onVms}
          searchable
          value={draft.vms}
          onChange={(chosen) => patch({ vms: chosen })}
          data={withChosen(vms, draft.vms)}
          w={230}
        />
        <MultiSelect
          label={strings.onePath}
          searchable
          maxValues={2}
          value={draft.path}
          onChange={(chosen) => patch({ path: chosen })}
          data={withChosen(vms, draft.path)}
          error={wrong('scope/path') ?? pairProblem(draft.path, strings.vm)}
          w={230}
        />
        <TextInput
          label={strings.withLabels}
          placeholder={strings.labelsExample}
          value={draft.labels}
          onChange={(event) => patch({ labels: event.currentTarget.value })}
          error={wrong('scope/labels')}
          w={230}
        />
        <Choice
          label={strings.application}
          value={draft.application}
          onChange={(application) => patch({ application })}
          none={strings.anyApplication}
          data={withChosen(names, draft.application ? [draft.application] : []).map((name) => ({
            value: name,
            label: name,
          }))}
          w={230}
        />
      </div>
    </Panel>
  )
}
