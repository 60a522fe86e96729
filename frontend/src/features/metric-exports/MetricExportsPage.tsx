import { useQuery } from '@tanstack/react-query'
import { useEdits } from '~/api/access'
import { useRole } from '~/api/members'
import { metricExportsQuery } from '~/api/metricExports'
import { CreateDrawer } from '~/ui/CreateDrawer'
import { Page } from '~/ui/Page'
import { Unloaded } from '~/ui/Unloaded'
import { NewMetricExport } from './MetricExportForms'
import { MetricExportList } from './MetricExportList'
import { strings } from './strings'

/** Exports of each minute to the tenant's own monitoring, with their state; administrators add and change them. */
export function MetricExportsPage() {
  const exports = useQuery(metricExportsQuery)
  const role = useRole()
  const edits = useEdits()
  if (!exports.data) return <Unloaded query={exports} title={strings.metricExports} what={strings.lower} />
  const manages = role === 'admin' || role === 'owner'
  return (
    <Page
      title={strings.metricExports}
      lead={strings.lead}
      action={
        manages && (
          <CreateDrawer label={strings.newExport}>{(close) => <NewMetricExport onDone={close} />}</CreateDrawer>
        )
      }
    >
      <MetricExportList rows={exports.data} edits={edits} manages={manages} />
    </Page>
  )
}
