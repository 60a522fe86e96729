import type { Path } from '~/api/types'
import { formatCount, formatDelay, formatExact } from '~/lib/units'
import { pageStyles } from '~/ui/Page'
import styles from './paths.module.css'

/** The source ports of a path with several, each by itself: equal-cost routing may send each another way. */
export function Flows({ path }: { path: Path }) {
  if (path.by_flow.length === 0) return null
  return (
    <section className={styles.newest}>
      <h2 id="flows">Flows of the newest window</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section className={pageStyles.scroll} tabIndex={0} aria-labelledby="flows">
        <table className={`${pageStyles.table} ${styles.numbers}`} aria-labelledby="flows">
          <thead>
            <tr>
              <th scope="col">Flow</th>
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
        Each flow leaves from a source port of its own. An application whose connection takes the slowest one gets{' '}
        {formatDelay(path.slowest_outbound_ns)} outbound and {formatDelay(path.slowest_inbound_ns)} inbound (p50).
      </p>
    </section>
  )
}

function Direction({ name }: { name: string }) {
  return (
    <>
      <th scope="col">{name} minimum</th>
      <th scope="col" colSpan={2}>
        {name} p50
      </th>
      <th scope="col">{name} measured</th>
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
        {of.p50_ns != null && of.p50_ns === slowest ? ', the slowest' : ''}
      </td>
      <td className={styles.exact}>{formatCount(of.count)}</td>
    </>
  )
}
