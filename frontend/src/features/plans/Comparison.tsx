import { useQuery } from '@tanstack/react-query'
import { type PlanSettings, planPreviewQuery } from '~/api/meshes'
import type { Mesh, PlanPreview, Strategy, StrategyPreview } from '~/api/types'
import { formatBytes } from '~/lib/bytes'
import { formatCount, threeDigits } from '~/lib/units'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Failed, Loading, Notice } from '~/ui/State'
import { formatDetection, formatPrice } from './quantities'
import { strings } from './strings'

/** Most packets per second that a plan allows an agent. */
const CAP_PER_S = 20_000

interface Props {
  mesh: Mesh
  settings: PlanSettings
  chosen: Strategy
}

/** The strategies of a mesh with their cost and their time to detect a fault, under the settings of the form. */
export function Comparison({ mesh, settings, chosen }: Props) {
  const { data, error, refetch } = useQuery(planPreviewQuery(mesh, settings))
  if (error && !data) return <Failed what={strings.comparisonLower} error={error} retry={() => void refetch()} />
  if (!data) return <Loading what={strings.comparisonLower} />
  if (data.items.every(({ cost }) => cost.bytes_per_day === 0)) {
    return <p className={pageStyles.quiet}>{strings.nothingToCompare}</p>
  }
  return (
    <>
      <Records
        label={strings.compare}
        rows={data.items}
        id={({ strategy }) => strategy}
        columns={[
          {
            title: strings.strategy,
            cell: ({ strategy }) =>
              strategy === chosen ? <strong>{strings.strategies[strategy]}</strong> : strings.strategies[strategy],
            as: 'head',
          },
          { title: strings.measured, cell: ({ measured }) => `${threeDigits(measured * 100)} %`, as: 'number' },
          { title: strings.packets, cell: (item) => <Packets item={item} />, as: 'wrap' },
          { title: strings.bytes, cell: ({ cost }) => formatBytes(cost.bytes_per_day), as: 'number' },
          { title: strings.price, cell: ({ cost }) => formatPrice(cost.usd_per_day), as: 'number' },
          {
            title: strings.oneVm,
            cell: ({ detection }) => formatDetection(detection.vm, settings.window_s),
            as: 'wrap',
          },
          {
            title: strings.zonePair,
            cell: ({ detection }) => formatDetection(detection.zone_pair, settings.window_s),
            as: 'wrap',
          },
          {
            title: strings.onePath,
            cell: ({ detection }) => formatDetection(detection.path, settings.window_s),
            as: 'wrap',
          },
        ]}
      />
      <Prices preview={data} />
      <p className={pageStyles.quiet}>
        {strings.detectionNote} {strings.bytesNote}
      </p>
    </>
  )
}

function Packets({ item: { cost, exceeds_agent_cap } }: { item: StrategyPreview }) {
  const perSecond = (packets: number) => formatCount(Math.round(packets))
  return (
    <>
      {strings.packetsPerSecond(perSecond(cost.agent_packets_per_s), perSecond(cost.agent_packets_per_s_max))}
      {exceeds_agent_cap && <Notice tone="warn">{strings.aboveCap(formatCount(CAP_PER_S))}</Notice>}
    </>
  )
}

function Prices({ preview }: { preview: PlanPreview }) {
  if (preview.prices.length > 0)
    return <p className={pageStyles.quiet}>{strings.pricesOf(preview.prices_checked_on)}</p>
  const isUnknown = preview.items.some(({ cost }) => cost.usd_per_day === null)
  return isUnknown ? <p className={pageStyles.quiet}>{strings.noListPrice}</p> : null
}
