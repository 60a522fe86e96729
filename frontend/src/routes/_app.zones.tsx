import { createFileRoute } from '@tanstack/react-router'
import { ZonesPage } from '~/features/inventory/ZonesPage'

export const Route = createFileRoute('/_app/zones')({ component: ZonesPage })
