import {
  type LatencyBudget as Budget,
  budgetSentences,
  CAUSES,
  type Cause,
  isMeasured,
  type Parts,
  type ReferencePart,
  segmentsOf,
  sumOf,
} from '~/lib/latencyBudget'
import { PROVIDERS } from '~/lib/publishedDelays'
import { formatDelay } from '~/lib/units'
import styles from './latencyBudget.module.css'
import { pageStyles } from './Page'
import { Records } from './Records'
import { strings } from './strings'
import { Term } from './Term'

interface Props {
  budget: Budget
  reference: readonly ReferencePart[]
  publishedSource: string
  /** Only the sentences and the bars, for a narrow place. */
  brief?: boolean
}

const CAUSE_NAMES: Record<Cause, string> = {
  propagation: strings.propagation,
  processing: strings.processing,
  base: strings.baseTogether,
  queueing: strings.queueing,
}
const CAUSE_TERMS: Record<Cause, string> = {
  propagation: 'propagation delay',
  processing: 'processing delay',
  base: 'base delay',
  queueing: 'queueing delay',
}
const COMPONENTS: Record<ReferencePart['component'], string> = {
  nic: strings.nic,
  kernel: strings.kernel,
  hypervisor: strings.hypervisor,
  switches: strings.switches,
}

const percent = (share: number) => `${share * 100}%`
const fromTo = (low: number, high: number) => strings.interval(formatDelay(low), formatDelay(high))

/** One direction: where its delay comes from, over what was published of such components and clouds. */
export function LatencyBudget({ budget, reference, publishedSource, brief = false }: Props) {
  if (!isMeasured(budget)) return <p className={pageStyles.quiet}>{strings.noDelays}</p>
  const { base, p50, p99, provider, published } = budget
  const [least, most] = sumOf(reference)
  const extents = published.length > 0 && provider !== null ? publishedExtents(provider, published) : []
  const axis = Math.max(p99.delay_ns, most, ...extents.map(([, , high]) => high), 1)
  return (
    <div className={styles.budget}>
      {budgetSentences(budget).map((sentence) => (
        <p key={sentence} className={pageStyles.lead}>
          {sentence}
        </p>
      ))}
      <div className={styles.bars} aria-hidden="true">
        <Bar name="p50" parts={p50} most={axis} />
        <Bar name="p99" parts={p99} most={axis} />
        <Extent name={strings.referenceShort} low={least} high={most} most={axis} />
        {extents.map(([name, low, high]) => (
          <Extent key={name} name={name} low={low} high={high} most={axis} />
        ))}
      </div>
      <p className={styles.keys} aria-hidden="true">
        {CAUSES.filter((cause) => p50.shares.some((share) => share.cause === cause)).map((cause) => (
          <span key={cause}>
            <span className={`${styles.key} ${styles[cause]}`} />
            {CAUSE_NAMES[cause]}
          </span>
        ))}
      </p>
      {!brief && <Shares parts={[base, p50, p99]} title={budget.title} />}
      <p className={pageStyles.lead}>
        {budget.base_verdict &&
          strings.baseVerdict(budget.base_verdict, fromTo(least, most), budget.separation === 'separated')}{' '}
        {budget.separation === 'distance_too_long' && strings.distanceTooLong}
        {budget.separation === 'distance_not_resolved' && strings.distanceNotResolved}{' '}
        {published.length > 0
          ? strings.publishedTraces(
              publishedSource,
              published.length,
              extents.map(([, low, high]) => fromTo(low, high)),
            )
          : provider !== null && PROVIDERS[provider] && strings.noPublishedTraces(PROVIDERS[provider])}
      </p>
    </div>
  )
}

/** The smallest and largest p50 and p99 of published traces, each under its name. */
function publishedExtents(provider: string, published: Budget['published']): [string, number, number][] {
  const extent = (of: number[]): [number, number] => [Math.min(...of), Math.max(...of)]
  const name = PROVIDERS[provider] ?? provider
  return [
    [strings.publishedStatistic(name, 'p50'), ...extent(published.map(({ p50_ns }) => p50_ns))],
    [strings.publishedStatistic(name, 'p99'), ...extent(published.map(({ p99_ns }) => p99_ns))],
  ]
}

function Bar({ name, parts, most }: { name: string; parts: Parts; most: number }) {
  return (
    <div className={styles.bar}>
      <span className={styles.name}>{name}</span>
      <span className={styles.track}>
        {segmentsOf(parts, most).map(({ cause, start, length }) => (
          <span
            key={cause}
            className={`${styles.part} ${styles[cause]}`}
            style={{ left: percent(start), width: percent(length) }}
          />
        ))}
      </span>
      <span className={styles.value}>{formatDelay(parts.delay_ns)}</span>
    </div>
  )
}

function Extent({ name, low, high, most }: { name: string; low: number; high: number; most: number }) {
  return (
    <div className={styles.bar}>
      <span className={styles.name}>{name}</span>
      <span className={`${styles.track} ${styles.thin}`}>
        <span
          className={`${styles.part} ${styles.extent}`}
          style={{ left: percent(low / most), width: percent((high - low) / most) }}
        />
      </span>
      <span className={styles.value}>{fromTo(low, high)}</span>
    </div>
  )
}

/** The shares with their bounds; the last row has the sums. */
function Shares({ parts: [base, p50, p99], title }: { parts: [Parts, Parts, Parts]; title: string }) {
  const cell = (of: Parts, cause: Cause | 'total') => {
    const found = cause === 'total' ? of : of.shares.find((share) => share.cause === cause)
    if (!found) return ''
    return (
      <>
        {formatDelay(found.delay_ns)} <span className={styles.bounds}>({fromTo(found.low_ns, found.high_ns)})</span>
      </>
    )
  }
  const rows: (Cause | 'total')[] = [...p50.shares.map(({ cause }) => cause), 'total']
  return (
    <Records
      label={strings.sharesOf(title)}
      rows={rows}
      id={(cause) => cause}
      columns={[
        {
          title: strings.share,
          cell: (cause) =>
            cause === 'total' ? (
              strings.measured
            ) : (
              <span className={styles.share}>
                <span className={`${styles.key} ${styles[cause]}`} />
                <Term of={CAUSE_TERMS[cause]}>{CAUSE_NAMES[cause]}</Term>
              </span>
            ),
          as: 'head',
        },
        { title: strings.lowest, cell: (cause) => cell(base, cause), as: 'number' },
        { title: 'p50', cell: (cause) => cell(p50, cause), as: 'number' },
        { title: 'p99', cell: (cause) => cell(p99, cause), as: 'number' },
      ]}
    />
  )
}

/** Published contributions of the components that process packets. */
export function Reference({ reference, source }: { reference: readonly ReferencePart[]; source: string }) {
  return (
    <Records
      label={strings.referenceOf(source)}
      rows={reference}
      id={({ component }) => component}
      columns={[
        { title: strings.component, cell: ({ component }) => COMPONENTS[component], as: 'head' },
        { title: strings.contribution, cell: ({ low_ns, high_ns }) => fromTo(low_ns, high_ns), as: 'number' },
        { title: strings.source, cell: (part) => part.source, as: 'wrap' },
      ]}
    />
  )
}
