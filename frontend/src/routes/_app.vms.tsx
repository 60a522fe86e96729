import { createFileRoute } from '@tanstack/react-router'
import { firstVmsQuery, vmsQuery } from '~/api/inventory'
import { VmsPage } from '~/features/inventory/VmsPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/vms')({
  staticData: { title: strings.vms, help: 'agent' },
  // Asked for while the page's code loads.
  loader: ({ context: { queryClient } }) => {
    if (!queryClient.getQueryData(vmsQuery.queryKey)) void queryClient.prefetchQuery(firstVmsQuery)
  },
  component: VmsPage,
})
