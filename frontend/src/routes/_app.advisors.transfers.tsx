import { createFileRoute, redirect } from '@tanstack/react-router'
import { strings } from '~/features/advisors/transport/strings'

/** The address of a page that is gone: it leads to the advisor about transfers. */
export const Route = createFileRoute('/_app/advisors/transfers')({
  staticData: { title: strings.transport },
  beforeLoad: () => {
    throw redirect({ to: '/advisors/transport', replace: true })
  },
})
