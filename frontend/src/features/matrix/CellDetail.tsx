import { VisuallyHidden } from '@mantine/core'
import type { When } from '~/api/measurements'
import type { Direction, Path, RoundTrip } from '~/api/types'
import { LOOK, type Look } from '~/charts/heatmap/grid'
import { STATISTICS } from '~/lib/dimensions'
import { statisticName } from '~/lib/metrics'
import { sentenceOf } from '~/lib/text'
import type { Clock } from '~/lib/time'
import { formatMoments } from '~/lib/time'
import { formatBound, formatCount, formatDelay, formatRatio, lossRatio, NO_VALUE } from '~/lib/units'
import { ButtonLink } from '~/ui/links'
import type { Entry } from './axes'
import styles from './matrix.module.css'
import { STATE_FACTS, stateName } from './states'
import { strings } from './strings'
import { UsualFigures } from './UsualFigures'

interface Props {
  meshId: string
  source: Entry
  target: Entry
  look: Look
  path: Path | undefined
  clock: Clock
  /** The newest window, or the worst hour of a range, is compared with what is usual. */
  isCompared: boolean
  when?: When | undefined
  /** The number of paths of which this is the worst. */
  paths?: number
}

const exact = (ns: number | null | undefined) => (ns == null ? NO_VALUE : formatCount(Math.round(ns)))

/** The newest window of one path, to the nanosecond. */
export function CellDetail({ meshId, source, target, look, path, clock, isCompared, when, paths = 1 }: Props) {
  const from = path?.started_at ? new Date(path.started_at) : null
  return (
    <section className={styles.card} aria-label={strings.selectedPath}>
      <header className={styles.cardHead}>
        <h2>
          {source.name} <span aria-hidden="true">→</span>
          <VisuallyHidden> {strings.toLower} </VisuallyHidden> {target.name}
        </h2>
        <p>
          {source.zone}
          {source.zone !== target.zone && ` → ${target.zone}`}
        </p>
        {paths > 1 && <p>{strings.isWorstOf(paths)}</p>}
      </header>
      {look !== LOOK.plain && (
        <p className={styles.stateLine}>
          <strong>{stateName(look)}.</strong> {STATE_FACTS[look].about}
          {path?.no_service && ` ${sentenceOf(path.no_service.message)}`}
        </p>
      )}
      {look === LOOK.barred && path?.estimate && <Estimated estimate={path.estimate} />}
      {isCompared && path && look !== LOOK.ruled && look !== LOOK.barred && look !== LOOK.ringed && (
        <UsualFigures meshId={meshId} by="vm" source={source.id} target={target.id} when={when} />
      )}
      {path?.outbound && path.inbound && path.round_trip ? (
        <>
          <Figures outbound={path.outbound} inbound={path.inbound} roundTrip={path.round_trip} />
          {from && (
            <p className={styles.footnote}>
              {strings.windowAt(formatMoments(from, new Date(from.getTime() + (path.window_s ?? 0) * 1_000), clock))}
            </p>
          )}
        </>
      ) : (
        path === undefined && look !== LOOK.dotted && <p className={styles.footnote}>…</p>
      )}
      {source.id !== target.id && (
        <ButtonLink
          variant="default"
          to="/meshes/$meshId/paths/$source/$target"
          params={{ meshId, source: source.id, target: target.id }}
        >
          {strings.openPath}
        </ButtonLink>
      )}
    </section>
  )
}

/** The estimates of both directions with their intervals. */
function Estimated({ estimate }: { estimate: NonNullable<Path['estimate']> }) {
  const percent = Math.round(100 * estimate.coverage)
  const directions = [
    [strings.outbound, estimate.outbound],
    [strings.inbound, estimate.inbound],
  ] as const
  return (
    <>
      {directions.map(
        ([name, one]) =>
          one && (
            <p key={name} className={styles.footnote}>
              {name}:{' '}
              {strings.estimateOf(
                formatDelay(one.value_ns),
                formatDelay(one.low_ns),
                formatDelay(one.high_ns),
                percent,
              )}
            </p>
          ),
      )}
      <p className={styles.footnote}>{strings.estimateFrom(formatCount(estimate.measured))}</p>
    </>
  )
}

/** The source of asymmetry of a one-way delay, in words. */
const SOURCES: Record<Direction['asymmetry_source'], string> = {
  assumed: strings.sourceAssumed,
  mesh: strings.sourceMesh,
  hardware: strings.sourceHardware,
}

const QUANTITIES = [
  [strings.outbound, 'var(--outbound)'],
  [strings.inbound, 'var(--inbound)'],
  [strings.roundTrip, 'var(--round-trip)'],
] as const

const PACKETS: [name: string, format: (direction: Direction) => string][] = [
  [strings.loss, (direction) => formatRatio(lossRatio(direction))],
  [strings.sent, ({ sent }) => formatCount(sent)],
  [strings.lost, ({ lost }) => formatCount(lost)],
]

function Figures(props: { outbound: Direction; inbound: Direction; roundTrip: RoundTrip }) {
  const { outbound, inbound, roundTrip } = props
  return (
    <table className={styles.figures}>
      <thead>
        <tr>
          <th scope="col">ns</th>
          {QUANTITIES.map(([name, colour]) => (
            <th key={name} scope="col">
              <span className={styles.key} style={{ background: colour }} />
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {STATISTICS.map((statistic) => (
          <tr key={statistic}>
            <th scope="row">{statisticName(statistic)}</th>
            <td>{exact(outbound[`${statistic}_ns`])}</td>
            <td>{exact(inbound[`${statistic}_ns`])}</td>
            <td>{exact(roundTrip[`${statistic}_ns`])}</td>
          </tr>
        ))}
        <tr className={styles.ruled}>
          <th scope="row">{strings.clockError}</th>
          <Bound ns={outbound.clock_error_ns} />
          <Bound ns={inbound.clock_error_ns} />
          <td>{strings.none}</td>
        </tr>
        <tr>
          <th scope="row">{strings.asymmetrySource}</th>
          <td title={SOURCES[outbound.asymmetry_source]}>{outbound.asymmetry_source}</td>
          <td title={SOURCES[inbound.asymmetry_source]}>{inbound.asymmetry_source}</td>
          <td />
        </tr>
        {PACKETS.map(([name, format]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{format(outbound)}</td>
            <td>{format(inbound)}</td>
            <td />
          </tr>
        ))}
        <tr>
          <th scope="row">{strings.samples}</th>
          <td>{formatCount(outbound.count)}</td>
          <td>{formatCount(inbound.count)}</td>
          <td>{formatCount(roundTrip.count)}</td>
        </tr>
      </tbody>
    </table>
  )
}

function Bound({ ns }: { ns: number | null | undefined }) {
  return <td title={formatBound(ns)}>{ns == null ? NO_VALUE : `±${exact(ns)}`}</td>
}
