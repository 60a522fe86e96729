import { createFileRoute } from '@tanstack/react-router'
import { ArtifactsPage } from '~/features/artifacts/ArtifactsPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/artifacts/')({
  staticData: { title: strings.artifacts, help: 'artifacts' },
  component: ArtifactsPage,
})
