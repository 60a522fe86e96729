import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { pathCostsQuery } from '~/api/applications'
import { serverNow } from '~/api/connection'
import { deviationsQuery, type When } from '~/api/measurements'
import type { UnusualPath } from '~/api/types'
import { Trend } from '~/charts/sparkline/Trend'
import type { Granularity } from '~/lib/dimensions'
import { aroundHour, NOW } from '~/lib/spans'
import { formatShortMoment } from '~/lib/time'
import { formatWait } from '~/lib/traffic'
import { formatCount, formatDelay, formatExact, formatRatio, formatSignedDelay, NO_VALUE } from '~/lib/units'
import { lastHourOnly } from '~/lib/usual'
import { useClock } from '~/ui/clock'
import { PathCost } from '~/ui/PathCost'
import { useNow } from '~/ui/useNow'
import styles from './matrix.module.css'
import { strings } from './strings'

/** Rows of the list. */
export const UNUSUAL_ROWS = 8
/** Largest number of rows about loss. */
const LOSS_ROWS = 3
const NOW_MS = 10_000

interface Props {
  meshId: string
  by: Granularity
  /** A range longer than an hour; otherwise now. */
  when?: When | undefined
}

const selectionOf = (by: Granularity, { source, target }: UnusualPath) =>
  `${by === 'zone' ? 'zones' : 'path'}:${source.id}:${target.id}`

/**
 * The paths or zone pairs that lose most packets and that differ most from their usual delay, as a table; on a quiet
 * network, one line.
 */
export function MostUnusual({ meshId, by, when }: Props) {
  const { data } = useQuery(deviationsQuery(meshId, by, UNUSUAL_ROWS, when))
  const isShown = data?.by === by
  const selections = useMemo(
    () => (isShown ? data.items.map((item) => selectionOf(by, item)) : []),
    [isShown, data, by],
  )
  const { data: costs } = useQuery(pathCostsQuery(meshId, selections))
  const clock = useClock()
  const now = useNow(NOW_MS, serverNow)
  if (!isShown) return null
  const noun = (count: number) => strings.counted(by, count, formatCount(count))
  const { compared, unusual, losing } = data
  const losses = data.losses.slice(0, LOSS_ROWS)
  const items = data.items.slice(0, UNUSUAL_ROWS - losses.length)
  return (
    <section className={styles.card}>
      <header className={styles.cardHead}>
        <h2 id="most-unusual">{strings.mostUnusual}</h2>
        <p>
          {compared === 0
            ? data.no_baseline > 0
              ? strings.nothingUsualYet
              : strings.nothingRecent
            : unusual + losing === 0
              ? strings.allUsual(noun(compared))
              : strings.unusualOf(formatCount(unusual), noun(compared))}{' '}
          {lastHourOnly(data.basis.last_hour ?? 0, compared, noun(compared))}{' '}
          {losing > 0 && strings.losing(when ? 5 : 15, noun(losing))}
        </p>
      </header>
      {losses.length + items.length > 0 && (
        <table className={`${styles.figures} ${styles.unusual}`} aria-labelledby="most-unusual">
          <thead>
            <tr>
              <th scope="col">{by === 'zone' ? strings.zonePairHeader : strings.pathHeader}</th>
              <th scope="col">{strings.change}</th>
              <th scope="col">{when ? strings.worstHour : strings.lastHourHeader}</th>
            </tr>
          </thead>
          <tbody>
            {losses.map((item) => (
              <tr key={`loss ${item.source.id} ${item.target.id}`}>
                <th scope="row">
                  <End meshId={meshId} by={by} item={item} />
                </th>
                <td>{strings.shareLost(formatRatio(item.loss))}</td>
                <td>{NO_VALUE}</td>
              </tr>
            ))}
            {items.map((item) => (
              <tr key={`${item.source.id} ${item.target.id}`}>
                <th scope="row">
                  <End meshId={meshId} by={by} item={item} />
                  {when && item.alike > 0 && <small>{strings.andMore(formatCount(item.alike))}</small>}
                </th>
                <td>
                  <span title={formatExact(item.deviation_ns)}>{formatSignedDelay(item.deviation_ns)}</span>
                  <small title={strings.usualToNow(formatExact(item.baseline_ns), formatExact(item.value_ns))}>
                    {strings.usualToNow(formatDelay(item.baseline_ns), formatDelay(item.value_ns))}
                  </small>
                  <small>
                    <PathCost cost={costs?.get(selectionOf(by, item))} ofPair={by === 'zone'} />
                  </small>
                </td>
                <td>
                  {when ? (
                    <>
                      <time dateTime={item.onset_at}>{formatShortMoment(item.onset_at, clock, now)}</time>
                      {item.unusual_s !== null && <small>{strings.lasted(formatWait(item.unusual_s))}</small>}
                    </>
                  ) : (
                    <Trend usualNs={item.baseline_ns} nowNs={item.value_ns} since={item} clock={clock} now={now} />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

type Ends = Pick<UnusualPath, 'source' | 'target'> & { worst_hour_at?: string | null }

/** A link to a path, or to the paths of a zone pair, at its worst hour if it has one. */
function End({ meshId, by, item: { source, target, worst_hour_at } }: Props & { item: Ends }) {
  const search = worst_hour_at ? { ...NOW, ...aroundHour(worst_hour_at, serverNow()) } : NOW
  const name = `${source.name} → ${target.name}`
  return by === 'zone' ? (
    <Link to="/meshes/$meshId" params={{ meshId }} search={{ ...search, zones: `${source.id},${target.id}` }}>
      {name}
    </Link>
  ) : (
    <Link
      to="/meshes/$meshId/paths/$source/$target"
      params={{ meshId, source: source.id, target: target.id }}
      search={search}
    >
      {name}
    </Link>
  )
}
