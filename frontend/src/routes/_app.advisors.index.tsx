import { createFileRoute, redirect } from '@tanstack/react-router'

/** The address of the former list of advisors: it leads to the first page of the lab. */
export const Route = createFileRoute('/_app/advisors/')({
  beforeLoad: ({ location }) => {
    throw redirect({ to: '/advisors/fairness', search: location.search as never, replace: true })
  },
})
