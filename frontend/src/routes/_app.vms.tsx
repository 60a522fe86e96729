import { createFileRoute } from '@tanstack/react-router'
import { VmsPage } from '~/features/inventory/VmsPage'

export const Route = createFileRoute('/_app/vms')({ component: VmsPage })
