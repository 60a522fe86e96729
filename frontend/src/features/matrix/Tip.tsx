import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { pathQuery, type Shown } from '~/api/measurements'
import { type Cell, LOOK } from '~/charts/heatmap/grid'
import { sentenceOf } from '~/lib/text'
import { formatBound, formatDelay, formatExact } from '~/lib/units'
import type { Part } from './axes'
import styles from './matrix.module.css'
import type { Reading } from './reading'
import { stateName } from './states'
import { strings } from './strings'
import { SETTLED_MS } from './usePosition'

interface Props {
  meshId: string
  shown: Shown
  part: Part
  reading: Reading
  cell: Cell
  /** Texts of the annotations about its ends. */
  annotations: string[]
  /** Texts of the moves that are drawn there. */
  moves: string[]
}

/** The cell under the pointer: its ends and its value, after a moment to the nanosecond. */
export function Tip({ meshId, shown, part, reading, cell, annotations, moves }: Props) {
  const [settled] = useDebouncedValue(cell, SETTLED_MS)
  const { source, target } = reading.ends(cell) ?? {}
  const paths = reading.paths(cell)
  const look = reading.look(cell)
  const isPath = shown.by === 'vm' && source?.id !== target?.id
  const isExact = isPath && shown.metric === 'one_way_delay' && !shown.when
  const { data } = useQuery({
    ...pathQuery(meshId, source?.id ?? '', target?.id ?? '', shown.estimates),
    enabled:
      (isExact || (isPath && look === LOOK.ringed)) && settled.row === cell.row && settled.column === cell.column,
  })
  const direction = isExact ? data?.outbound : undefined
  const estimate = isExact && shown.statistic === 'p50' ? data?.estimate : undefined
  return (
    <div className={styles.tip}>
      <span>
        {part.rows[cell.row]?.name} → {part.columns[cell.column]?.name}
      </span>
      <strong>{reading.words(cell) ?? stateName(look)}</strong>
      {direction && (
        <span className={styles.exact}>
          {formatExact(direction[`${shown.statistic}_ns`])}{' '}
          {direction.clock_error_ns !== null && formatBound(direction.clock_error_ns)}
        </span>
      )}
      {paths > 1 && source && target && <span>{strings.worstPathOf(paths, source.name, target.name)}</span>}
      {look === LOOK.veiled && <span>{strings.stale}</span>}
      {look === LOOK.ringed && data?.no_service && <span>{sentenceOf(data.no_service.message)}</span>}
      {look === LOOK.barred && <span>{strings.estimated}</span>}
      {look === LOOK.barred && estimate?.outbound && (
        <span>
          {strings.estimateBetween(
            formatDelay(estimate.outbound.low_ns),
            formatDelay(estimate.outbound.high_ns),
            Math.round(100 * estimate.coverage),
          )}
        </span>
      )}
      {look === LOOK.flecked && <span>{strings.earlier}</span>}
      {reading.isFaint(cell) && <span>{strings.withinItsClockError}</span>}
      {moves.map((text) => (
        <span key={text}>{text}</span>
      ))}
      {annotations.map((text) => (
        <span key={text} className={styles.annotation}>
          {text}
        </span>
      ))}
    </div>
  )
}
