import { useSuspenseQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { meshQuery } from '~/api/meshes'
import { MeshSettingsPage } from '~/features/inventory/MeshSettingsPage'
import { ProbePlan } from '~/features/plans/ProbePlan'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/meshes/$meshId/settings')({
  staticData: { title: strings.meshSettings, help: 'agent#settings' },
  component: MeshSettingsRoute,
})

function MeshSettingsRoute() {
  const { meshId } = Route.useParams()
  const { data } = useSuspenseQuery(meshQuery(meshId))
  return (
    <MeshSettingsPage key={meshId} mesh={data.mesh} etag={data.etag}>
      <ProbePlan mesh={data.mesh} etag={data.etag} />
    </MeshSettingsPage>
  )
}
