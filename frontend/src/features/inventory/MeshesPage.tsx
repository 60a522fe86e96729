import { Anchor, Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { meshesQuery } from '~/api/queries'
import { formatCount } from '~/lib/units'
import { Page, pageStyles, Table } from '~/ui/Page'
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
      <Table label="Meshes">
        <thead>
          <tr>
            <th scope="col">Mesh</th>
            <th scope="col" className={pageStyles.number}>
              VMs
            </th>
            <th scope="col" className={pageStyles.number}>
              Window
            </th>
            <th scope="col" className={pageStyles.number}>
              Rate
            </th>
            <th scope="col">Actions</th>
          </tr>
        </thead>
        <tbody>
          {meshes.data.map((mesh) => (
            <tr key={mesh.id}>
              <th scope="row">
                <Anchor
                  size="sm"
                  renderRoot={(root) => <Link {...root} to="/meshes/$meshId" params={{ meshId: mesh.id }} />}
                >
                  {mesh.name}
                </Anchor>
              </th>
              <td className={pageStyles.number}>{formatCount(mesh.vm_count)}</td>
              <td className={pageStyles.number}>{mesh.window_s} s</td>
              <td className={pageStyles.number}>{mesh.rate_hz} Hz</td>
              <td>
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
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Page>
  )
}
