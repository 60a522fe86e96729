import { Anchor, Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { meshesQuery } from '~/api/meshes'
import { formatCount } from '~/lib/units'
import { Page } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Empty, Failed, Loading } from '~/ui/State'
import { ImportTrace } from './ImportTrace'

const newMesh = (
  <Group gap="xs">
    <ImportTrace />
    <Button renderRoot={(root) => <Link {...root} to="/onboarding" />}>New mesh</Button>
  </Group>
)

export function MeshesPage() {
  const meshes = useQuery(meshesQuery)
  if (meshes.error && !meshes.data) {
    return <Failed what="The list of meshes" error={meshes.error} retry={() => void meshes.refetch()} />
  }
  if (!meshes.data) return <Loading what="meshes" />
  if (meshes.data.length === 0) {
    return (
      <Empty title="There is no mesh yet" action={newMesh}>
        A mesh is a group of VMs that measure the delay to one another.
      </Empty>
    )
  }
  return (
    <Page title="Meshes" lead="Groups of VMs that measure the delay to one another." action={newMesh}>
      <Records
        label="Meshes"
        rows={meshes.data}
        id={(mesh) => mesh.id}
        columns={[
          {
            title: 'Mesh',
            cell: (mesh) => (
              <Anchor
                size="sm"
                renderRoot={(root) => <Link {...root} to="/meshes/$meshId" params={{ meshId: mesh.id }} />}
              >
                {mesh.name}
              </Anchor>
            ),
            as: 'head',
          },
          { title: 'VMs', cell: (mesh) => formatCount(mesh.vm_count), as: 'number' },
          { title: 'Window', cell: (mesh) => `${mesh.window_s} s`, as: 'number' },
          { title: 'Rate', cell: (mesh) => `${mesh.rate_hz} Hz`, as: 'number' },
          {
            title: 'Actions',
            cell: (mesh) => (
              <Anchor
                size="sm"
                renderRoot={(root) => (
                  <Link
                    {...root}
                    to="/meshes/$meshId/settings"
                    params={{ meshId: mesh.id }}
                    aria-label={`Settings of ${mesh.name}`}
                  />
                )}
              >
                Settings
              </Anchor>
            ),
          },
        ]}
      />
    </Page>
  )
}
