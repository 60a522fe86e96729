import { createFileRoute } from '@tanstack/react-router'
import { MetricExportsPage } from '~/features/metric-exports/MetricExportsPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/metric-exports')({
  staticData: { title: strings.metricExports, help: 'api/prometheus#metric-exports' },
  component: MetricExportsPage,
})
