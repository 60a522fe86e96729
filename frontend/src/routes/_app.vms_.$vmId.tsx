import { createFileRoute } from '@tanstack/react-router'
import { VM_SPAN } from '~/api/inventory'
import { VmPage } from '~/features/inventory/VmPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/vms_/$vmId')({
  staticData: { title: strings.vm, help: 'agent#troubleshooting', time: { span: VM_SPAN } },
  component: VmRoute,
})

function VmRoute() {
  const { vmId } = Route.useParams()
  return <VmPage vmId={vmId} />
}
