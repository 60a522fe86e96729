import { MultiSelect, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { applicationsQuery } from '~/api/applications'
import { rosterQuery } from '~/api/meshes'
import { Panel, pageStyles } from '~/ui/Page'
import type { PartProps } from './draft'

/** Names a rule has already stay choosable, whether the mesh still has them or not. */
const withChosen = (names: string[], chosen: string[]) => [...new Set([...names, ...chosen])]

/** Which paths: all that is named must hold. */
export function ScopeFields({ draft, patch, wrong, meshId }: PartProps & { meshId: string }) {
  const roster = useQuery(rosterQuery(meshId)).data
  const applications = (useQuery(applicationsQuery).data ?? []).filter(({ mesh }) => mesh.id === meshId)
  const zones = (roster?.zones ?? []).map(({ name }) => name)
  const vms = (roster?.vms ?? []).map(({ name }) => name)
  const names = applications.map(({ name }) => name)
  const pairProblem = (pair: string[], what: string) =>
    pair.length === 1 ? `Choose a second ${what} or none` : undefined
  return (
    <Panel title="Scope">
      <p className={pageStyles.lead}>
        All paths of the mesh, unless something is chosen; all that is chosen must hold.
      </p>
      <div className={pageStyles.form}>
        <MultiSelect
          label="In zones"
          searchable
          value={draft.zones}
          onChange={(chosen) => patch({ zones: chosen })}
          data={withChosen(zones, draft.zones)}
          w={230}
        />
        <MultiSelect
          label="Between two zones"
          searchable
          maxValues={2}
          value={draft.zonePair}
          onChange={(chosen) => patch({ zonePair: chosen })}
          data={withChosen(zones, draft.zonePair)}
          error={wrong('scope/zone_pair') ?? pairProblem(draft.zonePair, 'zone')}
          w={230}
        />
        <MultiSelect
          label="On VMs"
          searchable
          value={draft.vms}
          onChange={(chosen) => patch({ vms: chosen })}
          data={withChosen(vms, draft.vms)}
          w={230}
        />
        <MultiSelect
          label="One path: from, to"
          searchable
          maxValues={2}
          value={draft.path}
          onChange={(chosen) => patch({ path: chosen })}
          data={withChosen(vms, draft.path)}
          error={wrong('scope/path') ?? pairProblem(draft.path, 'VM')}
          w={230}
        />
        <TextInput
          label="VMs with labels"
          placeholder="role=db, tier=1"
          value={draft.labels}
          onChange={(event) => patch({ labels: event.currentTarget.value })}
          error={wrong('scope/labels')}
          w={230}
        />
        <NativeSelect
          label="Of application"
          value={draft.application}
          onChange={(event) => patch({ application: event.currentTarget.value })}
          data={[
            { value: '', label: 'any or none' },
            ...withChosen(names, draft.application ? [draft.application] : []).map((name) => ({
              value: name,
              label: name,
            })),
          ]}
          w={230}
        />
      </div>
    </Panel>
  )
}
