import type { Direction, Path, RoundTrip } from '~/api/types'
import { STATISTICS } from '~/lib/dimensions'
import { statisticName } from '~/lib/metrics'
import { type Clock, formatRange } from '~/lib/time'
import {
  formatBound,
  formatCount,
  formatDelay,
  formatExact,
  formatRatio,
  formatSignedDelay,
  lossRatio,
  NO_VALUE,
} from '~/lib/units'
import { pageStyles } from '~/ui/Page'
import { Term } from '~/ui/Term'
import styles from './paths.module.css'
import { strings } from './strings'

/** The source of the asymmetry between the two directions, as a sentence. */
const SOURCES: Record<string, string> = {
  assumed: strings.sourceAssumed,
  mesh: strings.sourceMesh,
  hardware: strings.sourceHardware,
}

/** Where the timestamps of the window were taken, as a sentence. */
const TIMESTAMPS: Record<NonNullable<Path['timestamp_source']>, string> = {
  hardware: strings.timestampsHardware,
  kernel: strings.timestampsKernel,
  user: strings.timestampsUser,
}

/** All values of a path in its newest window. */
export function NewestWindow({ path, clock }: { path: Path; clock: Clock }) {
  const { outbound, inbound, round_trip: roundTrip } = path
  if (!path.started_at || !outbound || !inbound || !roundTrip) {
    return (
      <section className={styles.newest}>
        <h2>{strings.newestWindow}</h2>
        <p className={styles.note}>{strings.noNewestWindow}</p>
      </section>
    )
  }
  const from = new Date(path.started_at)
  const to = new Date(from.getTime() + (path.window_s ?? 0) * 1_000)
  const skew = outbound.p50_ns != null && inbound.p50_ns != null ? outbound.p50_ns - inbound.p50_ns : null
  return (
    <section className={styles.newest}>
      <div className={styles.newestHead}>
        <h2 id="newest-window">{strings.newestWindow}</h2>
        <p className={styles.note}>{formatRange(from, to, clock)}</p>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section className={pageStyles.scroll} tabIndex={0} aria-labelledby="newest-window">
        <table className={`${pageStyles.table} ${styles.numbers}`} aria-labelledby="newest-window">
          <thead>
            <tr>
              <td />
              <th scope="col" colSpan={2}>
                <span className={styles.key} style={{ background: 'var(--outbound)' }} />
                {strings.outboundPath(path.source.name, path.target.name)}
              </th>
              <th scope="col" colSpan={2}>
                <span className={styles.key} style={{ background: 'var(--inbound)' }} />
                {strings.inboundPath(path.target.name, path.source.name)}
              </th>
              <th scope="col" colSpan={2}>
                <span className={styles.key} style={{ background: 'var(--round-trip)' }} />
                {strings.roundTrip}
              </th>
            </tr>
          </thead>
          <tbody>
            {STATISTICS.map((statistic) => (
              <tr key={statistic}>
                <th scope="row">
                  {statistic === 'p99' ? <Term of="p99">{statisticName(statistic)}</Term> : statisticName(statistic)}
                </th>
                <Both ns={outbound[`${statistic}_ns`]} />
                <Both ns={inbound[`${statistic}_ns`]} />
                <Both ns={roundTrip[`${statistic}_ns`]} />
              </tr>
            ))}
            <tr>
              <th scope="row">
                <Term>{strings.clockError}</Term>
              </th>
              <td>{formatBound(outbound.clock_error_ns)}</td>
              <td className={styles.exact}>{formatExact(outbound.clock_error_ns)}</td>
              <td>{formatBound(inbound.clock_error_ns)}</td>
              <td className={styles.exact}>{formatExact(inbound.clock_error_ns)}</td>
              <td colSpan={2} className={styles.exact}>
                {strings.noneOneClock}
              </td>
            </tr>
            {(outbound.residence_ns ?? inbound.residence_ns) ? (
              <tr>
                <th scope="row">
                  <Term>{strings.residence}</Term>
                </th>
                <Both ns={outbound.residence_ns} />
                <Both ns={inbound.residence_ns} />
                <td colSpan={2} />
              </tr>
            ) : null}
            <tr>
              <th scope="row">{strings.loss}</th>
              <Lost direction={outbound} />
              <Lost direction={inbound} />
              <td colSpan={2} />
            </tr>
            <tr>
              <th scope="row">{strings.samples}</th>
              <Count of={outbound} />
              <Count of={inbound} />
              <Count of={roundTrip} />
            </tr>
          </tbody>
        </table>
      </section>
      <p className={styles.source}>
        <Term>{strings.asymmetry}</Term>{' '}
        {strings.asymmetrySummary(
          formatSignedDelay(skew),
          SOURCES[outbound.asymmetry_source] ?? strings.sourceOther(outbound.asymmetry_source),
        )}
      </p>
      {path.timestamp_source ? (
        <p className={styles.source}>
          <Term>{strings.timestampSource}</Term> {TIMESTAMPS[path.timestamp_source]}
        </p>
      ) : null}
      {path.is_peer_unnamed ? <p className={styles.source}>{strings.peerUnnamed}</p> : null}
    </section>
  )
}

function Both({ ns }: { ns: number | null | undefined }) {
  return (
    <>
      <td>{formatDelay(ns)}</td>
      <td className={styles.exact}>{formatExact(ns)}</td>
    </>
  )
}

function Lost({ direction }: { direction: Direction }) {
  return (
    <>
      <td>{formatRatio(lossRatio(direction))}</td>
      <td className={styles.exact}>
        {direction.lost === null || direction.sent === null
          ? NO_VALUE
          : strings.countOf(formatCount(direction.lost), formatCount(direction.sent))}
      </td>
    </>
  )
}

function Count({ of }: { of: Direction | RoundTrip }) {
  return (
    <td colSpan={2} className={styles.exact}>
      {strings.exchangeCount(formatCount(of.count))}
    </td>
  )
}
