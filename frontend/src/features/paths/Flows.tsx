import type { Path } from '~/api/types'
import { formatCount, formatDelay, formatExact } from '~/lib/units'
import { pageStyles } from '~/ui/Page'
import styles from './paths.module.css'
import { strings } from './strings'

/** The flows of a path with several source ports: equal-cost routing may send each over another route. */
export function Flows({ path }: { path: Path }) {
  if (path.by_flow.length === 0) return <p className={pageStyles.quiet}>{strings.oneFlow}</p>
  return (
    <section className={styles.newest}>
      <h2 id="flows">{strings.flowsTitle}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section className={pageStyles.scroll} tabIndex={0} aria-labelledby={strings.flows}>
        <table className={`${pageStyles.table} ${styles.numbers}`} aria-labelledby="flows">
          <thead>
            <tr>
              <th scope="col">{strings.flow}</th>
              <Direction name="Outbound" />
              <Direction name="Inbound" />
            </tr>
          </thead>
          <tbody>
            {path.by_flow.map(({ flow, outbound, inbound }) => (
              <tr key={flow}>
                <th scope="row">{flow + 1}</th>
                <Numbers of={outbound} slowest={path.slowest_outbound_ns} />
                <Numbers of={inbound} slowest={path.slowest_inbound_ns} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p className={styles.source}>
        {strings.flowsLead(formatDelay(path.slowest_outbound_ns), formatDelay(path.slowest_inbound_ns))}
      </p>
    </section>
  )
}

function Direction({ name }: { name: string }) {
  return (
    <>
      <th scope="col">{strings.minimumOf(name)}</th>
      <th scope="col" colSpan={2}>
        {strings.medianOf(name)}
      </th>
      <th scope="col">{strings.samplesOf(name)}</th>
    </>
  )
}

function Numbers({ of, slowest }: { of: Path['by_flow'][number]['outbound']; slowest: number | null }) {
  return (
    <>
      <td>{formatDelay(of.min_ns)}</td>
      <td>{formatDelay(of.p50_ns)}</td>
      <td className={styles.exact}>
        {formatExact(of.p50_ns)}
        {of.p50_ns != null && of.p50_ns === slowest ? strings.slowest : ''}
      </td>
      <td className={styles.exact}>{formatCount(of.count)}</td>
    </>
  )
}
