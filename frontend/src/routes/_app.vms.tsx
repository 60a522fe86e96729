import { createFileRoute } from '@tanstack/react-router'
import { VmsPage } from '~/features/inventory/VmsPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/vms')({
  staticData: { title: strings.vms, help: 'agent' },
  component: VmsPage,
})
