import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEdits } from '~/api/access'
import { EditorsOnly } from '~/api/EditorsOnly'
import { meshesQuery, useDeleteMesh } from '~/api/meshes'
import { actOnRows } from '~/lib/inTurn'
import { formatCount } from '~/lib/units'
import { ButtonLink, TextLink } from '~/ui/links'
import { Page } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { Empty } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { ImportTrace } from './ImportTrace'
import { strings } from './strings'

const newMesh = (
  <EditorsOnly>
    <Group gap="xs">
      <ImportTrace />
      <ButtonLink to="/onboarding">{strings.newMesh}</ButtonLink>
    </Group>
  </EditorsOnly>
)

export function MeshesPage() {
  const meshes = useQuery(meshesQuery)
  const remove = useDeleteMesh()
  const edits = useEdits()
  if (!meshes.data) {
    return <Unloaded query={meshes} title={strings.meshes} what={strings.meshesLower} failed={strings.meshes} />
  }
  if (meshes.data.length === 0) {
    return (
      <Empty title={strings.noMeshes} action={newMesh}>
        {strings.noMeshesLead}
      </Empty>
    )
  }
  return (
    <Page title={strings.meshes} lead={strings.meshesLead} action={newMesh}>
      <RecordList
        label={strings.meshes}
        rows={meshes.data}
        id={(mesh) => mesh.id}
        bulk={
          edits && {
            nouns: [strings.meshNoun, strings.meshesLower],
            name: ({ name }) => name,
            actions: [actOnRows(strings.delete, remove, strings.deleteMeshesEffect)],
          }
        }
        columns={[
          {
            title: strings.mesh,
            cell: (mesh) => (
              <TextLink to="/meshes/$meshId" params={{ meshId: mesh.id }}>
                {mesh.name}
              </TextLink>
            ),
            as: 'head',
            by: { key: 'name', value: (mesh) => mesh.name },
          },
          {
            title: strings.vms,
            cell: (mesh) => formatCount(mesh.vm_count),
            as: 'number',
            by: { key: 'vms', value: (mesh) => mesh.vm_count },
          },
          { title: strings.window, term: 'window', cell: (mesh) => strings.seconds(mesh.window_s), as: 'number' },
          { title: strings.rate, term: 'exchange', cell: (mesh) => strings.hertz(mesh.rate_hz), as: 'number' },
          {
            title: strings.actions,
            cell: (mesh) => (
              <TextLink
                to="/meshes/$meshId/settings"
                params={{ meshId: mesh.id }}
                aria-label={strings.settingsOf(mesh.name)}
              >
                {strings.settings}
              </TextLink>
            ),
          },
        ]}
      />
    </Page>
  )
}
