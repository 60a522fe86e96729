import { createFileRoute } from '@tanstack/react-router'
import { MeshesPage } from '~/features/inventory/MeshesPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/meshes/')({
  staticData: { title: strings.meshes, help: 'glossary#tenancy-and-inventory' },
  component: MeshesPage,
})
