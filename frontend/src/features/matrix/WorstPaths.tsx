import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Shown } from '~/api/measurements'
import { worstPathsQuery } from '~/api/measurements'
import { facts, title } from '~/lib/metrics'
import { formatDelay, formatExact } from '~/lib/units'
import styles from './matrix.module.css'
import { strings } from './strings'

const ROWS = 8

/** The worst paths of the newest windows as a table. */
export function WorstPaths({ meshId, shown }: { meshId: string; shown: Shown }) {
  const { data } = useQuery(worstPathsQuery(meshId, shown.metric, shown.statistic, ROWS))
  const { format, isClocked } = facts(shown.metric)
  if (!data) return null
  // Without a bad path there is nothing to list.
  const rows = shown.metric === 'loss' ? data.items.filter(({ value }) => value > 0) : data.items
  return (
    <section className={styles.card}>
      <header className={styles.cardHead}>
        <h2 id="worst-paths">{strings.worstPaths}</h2>
        <p>{strings.worstPathsLead(title(shown.metric, shown.statistic))}</p>
      </header>
      {rows.length === 0 ? (
        <p className={styles.footnote}>{data.items.length > 0 ? strings.noPathWithLoss : strings.noPathWithValue}</p>
      ) : (
        <table className={styles.figures} aria-labelledby="worst-paths">
          <thead>
            <tr>
              <th scope="col">{strings.pathHeader}</th>
              <th scope="col">{strings.value}</th>
              {isClocked && <th scope="col">{strings.clockError}</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((path) => (
              <tr key={`${path.source.id} ${path.target.id}`}>
                <th scope="row">
                  <Link
                    to="/meshes/$meshId/paths/$source/$target"
                    params={{ meshId, source: path.source.id, target: path.target.id }}
                  >
                    {path.source.name} → {path.target.name}
                  </Link>
                </th>
                <td title={shown.metric === 'loss' ? undefined : formatExact(path.value)}>{format(path.value)}</td>
                {isClocked && <td>{path.clock_error_ns === null ? '' : `±${formatDelay(path.clock_error_ns)}`}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
