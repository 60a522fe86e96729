import { createFileRoute } from '@tanstack/react-router'
import { ArtifactPage } from '~/features/artifacts/ArtifactPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/artifacts/$artifactId')({
  staticData: { title: strings.artifact, help: 'artifacts#publish-watch-use' },
  component: ArtifactRoute,
})

function ArtifactRoute() {
  return <ArtifactPage artifactId={Route.useParams().artifactId} />
}
