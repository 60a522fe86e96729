import { createFileRoute } from '@tanstack/react-router'
import { MeshesPage } from '~/features/inventory/MeshesPage'

export const Route = createFileRoute('/_app/meshes/')({ component: MeshesPage })
