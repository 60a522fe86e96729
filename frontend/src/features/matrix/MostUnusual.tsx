import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { deviationsQuery } from '~/api/measurements'
import type { Deviation } from '~/api/types'
import type { Granularity } from '~/lib/dimensions'
import { formatCount, formatDelay, formatExact, formatSignedDelay } from '~/lib/units'
import styles from './matrix.module.css'
import { strings } from './strings'

/** Rows of the list. */
export const UNUSUAL_ROWS = 8

interface Props {
  meshId: string
  by: Granularity
}

/** The paths or zone pairs that differ most from their usual delay, as a table; on a quiet network, one line. */
export function MostUnusual({ meshId, by }: Props) {
  const { data } = useQuery(deviationsQuery(meshId, by, UNUSUAL_ROWS))
  if (data?.by !== by) return null
  const noun = (count: number) => strings.counted(by, count, formatCount(count))
  const { compared, unusual, items } = data
  return (
    <section className={styles.card}>
      <header className={styles.cardHead}>
        <h2 id="most-unusual">{strings.mostUnusual}</h2>
        <p>
          {compared === 0
            ? strings.nothingUsualYet
            : unusual === 0
              ? strings.allUsual(noun(compared))
              : strings.unusualOf(formatCount(unusual), noun(compared))}
        </p>
      </header>
      {items.length > 0 && (
        <table className={styles.figures} aria-labelledby="most-unusual">
          <thead>
            <tr>
              <th scope="col">{by === 'zone' ? strings.zonePairHeader : strings.pathHeader}</th>
              <th scope="col">{strings.usual}</th>
              <th scope="col">{strings.now}</th>
              <th scope="col">{strings.change}</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={`${item.source.id} ${item.target.id}`}>
                <th scope="row">
                  <End meshId={meshId} by={by} item={item} />
                </th>
                <td title={formatExact(item.baseline_ns)}>{formatDelay(item.baseline_ns)}</td>
                <td title={formatExact(item.value_ns)}>{formatDelay(item.value_ns)}</td>
                <td title={formatExact(item.deviation_ns)}>{formatSignedDelay(item.deviation_ns)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

/** A link to a path, or to the paths of a zone pair. */
function End({ meshId, by, item: { source, target } }: Props & { item: Deviation }) {
  const name = `${source.name} → ${target.name}`
  return by === 'zone' ? (
    <Link to="/meshes/$meshId" params={{ meshId }} search={{ zones: `${source.id},${target.id}` }}>
      {name}
    </Link>
  ) : (
    <Link to="/meshes/$meshId/paths/$source/$target" params={{ meshId, source: source.id, target: target.id }}>
      {name}
    </Link>
  )
}
