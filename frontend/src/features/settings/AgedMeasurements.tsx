import { useQuery } from '@tanstack/react-query'
import { type AgedTier, agedQuery } from '~/api/usage'
import { formatDay, formatMoment } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { NoRows } from '~/ui/NoRows'
import { Panel } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Failed, Notice } from '~/ui/State'
import { strings } from './strings'

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)

/** Measurements in object storage and the newest run of ageing. Empty while ageing is off and the storage has nothing. */
export function AgedMeasurements() {
  const aged = useQuery(agedQuery)
  const clock = useClock()
  if (aged.error && !aged.data) {
    return <Failed what={strings.aged} error={aged.error} retry={() => void aged.refetch()} />
  }
  if (!aged.data || (aged.data.after_days === 0 && aged.data.items.length === 0)) return null
  const { after_days, items, run } = aged.data
  const moment = (at: string) => formatMoment(new Date(at), clock)
  return (
    <Panel title={strings.aged}>
      <p>{after_days > 0 ? strings.agedAfter(after_days) : strings.agedOff}</p>
      {run?.error && (
        <Notice tone="warn" title={strings.agingFailed(moment(run.ended_at))}>
          {run.error}
        </Notice>
      )}
      {run && !run.error && <p>{strings.agingRun(moment(run.ended_at), run.objects, megabytes(run.bytes))}</p>}
      {items.length === 0 ? (
        <NoRows>{strings.noAged}</NoRows>
      ) : (
        <Records
          label={strings.aged}
          rows={items}
          id={(item) => `${item.mesh_id} ${item.tier}`}
          columns={[
            { title: strings.mesh, cell: ({ mesh }) => mesh, as: 'head' },
            { title: strings.tier, cell: ({ tier }) => strings.tierNames[tier] ?? tier },
            { title: strings.from, cell: (item) => day(item, 'started_at') },
            { title: strings.to, cell: (item) => day(item, 'ended_at') },
            { title: strings.objects, cell: ({ objects }) => formatCount(objects) },
            { title: strings.restoredObjects, cell: ({ restored }) => formatCount(restored) },
            { title: strings.blocks, cell: ({ rows }) => formatCount(rows) },
            { title: strings.megabytes, cell: ({ bytes }) => megabytes(bytes) },
          ]}
        />
      )}
    </Panel>
  )
}

// Ranges are whole days of UTC.
const day = (item: AgedTier, end: 'started_at' | 'ended_at') => formatDay(new Date(item[end]), 'utc')
