import { createFileRoute } from '@tanstack/react-router'
import { VmPage } from '~/features/inventory/VmPage'

export const Route = createFileRoute('/_app/vms_/$vmId')({ component: VmRoute })

function VmRoute() {
  const { vmId } = Route.useParams()
  return <VmPage vmId={vmId} />
}
