import { createFileRoute, redirect } from '@tanstack/react-router'
import { strings } from '~/features/shell/strings'

/** The address that metric exports had: it leads to their page. */
export const Route = createFileRoute('/_app/bucket-exports')({
  staticData: { title: strings.metricExports },
  beforeLoad: () => {
    throw redirect({ to: '/metric-exports', replace: true })
  },
})
