import { useQueries } from '@tanstack/react-query'
import { matrixQuery, type When } from '~/api/measurements'
import { LOOK, type Look } from '~/charts/heatmap/grid'
import { valueOfCode } from '~/lib/codes'
import type { MatrixMetric, Statistic } from '~/lib/dimensions'
import { facts, title } from '~/lib/metrics'
import { NO_VALUE } from '~/lib/units'
import styles from './matrix.module.css'
import { stateName } from './states'
import { strings } from './strings'

interface Props {
  meshId: string
  /** Ids of zones. */
  source: string
  target: string
  when: When | undefined
}

const FIGURES: [MatrixMetric, Statistic][] = [
  ['one_way_delay', 'p50'],
  ['one_way_delay', 'p99'],
  ['loss', 'p50'],
  ['clock_error', 'p50'],
]

/** The delay, loss and clock error of a zone pair: of the samples of all its paths together. */
export function ZoneFigures({ meshId, source, target, when }: Props) {
  // Of a comparison, its own range.
  const { versus: _, ...range } = when ?? { percent: false }
  const answers = useQueries({
    queries: FIGURES.map(([metric, statistic]) =>
      matrixQuery(meshId, { by: 'zone', metric, statistic, app: undefined, slowest: false, when: when && range }),
    ),
  })
  const figure = (at: number) => {
    const data = answers[at]?.data
    if (!data) return '…'
    const [metric] = FIGURES[at] as [MatrixMetric, Statistic]
    const index = (id: string) => data.roster.zones.findIndex((zone) => zone.id === id)
    const cell = index(source) * data.matrix.columns + index(target)
    const look = data.matrix.states[cell] as Look | undefined
    const value = valueOfCode(metric, data.matrix.codes[cell] ?? 0)
    if (value === null) return look === LOOK.plain || look === undefined ? NO_VALUE : stateName(look)
    return metric === 'clock_error' ? `±${facts(metric).format(value)}` : facts(metric).format(value)
  }
  return (
    <table className={styles.figures} aria-label={strings.zoneFigures}>
      <tbody>
        {FIGURES.map(([metric, statistic], at) => (
          <tr key={`${metric} ${statistic}`}>
            <th scope="row">{title(metric, statistic)}</th>
            <td>{figure(at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
