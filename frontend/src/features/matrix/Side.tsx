import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense } from 'react'
import { hasWorstHours, pathQuery, type Shown } from '~/api/measurements'
import type { Shape } from '~/charts/heatmap/view'
import { useClock } from '~/ui/clock'
import type { Part } from './axes'
import { CellDetail } from './CellDetail'
import { MostUnusual } from './MostUnusual'
import styles from './matrix.module.css'
import type { Reading } from './reading'
import { strings } from './strings'
import { type Position, useSettled } from './usePosition'

/** With latency budgets and figures of providers, which few cells need. */
const ZoneDetail = lazy(() => import('./ZoneDetail'))
const ZonePair = lazy(() => import('./ZonePair'))

interface Props {
  meshId: string
  shown: Shown
  part: Part
  reading: Reading
  position: Position
  shape: Shape
  /** Legend of the arrows over the picture. */
  moves: ReactNode
  legend: ReactNode
  /** Sums of the selected row or column. */
  children: ReactNode
}

/** The panel at the right of the heatmap: moves, legend, zone pair, cell under the pointer, and the most unusual paths. */
export function Side({ meshId, shown, part, reading, position, shape, moves, legend, children }: Props) {
  const clock = useClock()
  const settled = useSettled(position, part)
  const [row, column] = [settled && part.rows[settled.row], settled && part.columns[settled.column]]
  const { source, target } = (settled && reading.ends(settled)) ?? {}
  const isPath = shown.by === 'vm' && source && target && source.id !== target.id
  const zones = shown.by === 'zone' || (row?.isClosed && column?.isClosed) ? { row, column } : null
  const isCompared = !shown.when || hasWorstHours(shown.when)
  const detail = useQuery({
    ...pathQuery(meshId, source?.id ?? '', target?.id ?? '', shown.estimates),
    enabled: Boolean(isPath),
  })
  return (
    <aside className={styles.side}>
      {moves}
      {legend}
      {part.zones && (
        <Suspense>
          <ZonePair meshId={meshId} zones={part.zones} when={shown.when} shape={shape} onAxis={position.onAxis} />
        </Suspense>
      )}
      {children}
      {zones?.row && zones.column && (
        <Suspense>
          <ZoneDetail meshId={meshId} source={zones.row} target={zones.column} when={shown.when} />
        </Suspense>
      )}
      {shown.by === 'vm' && source && target && settled && (
        <CellDetail
          meshId={meshId}
          source={source}
          target={target}
          look={reading.look(settled)}
          path={isPath ? detail.data : undefined}
          clock={clock}
          isCompared={isCompared}
          when={shown.when}
          paths={reading.paths(settled)}
        />
      )}
      {!settled && <p className={styles.hint}>{shown.by === 'zone' ? strings.zoneHint : strings.cellHint}</p>}
      {isCompared && <MostUnusual meshId={meshId} by={shown.by} when={shown.when} />}
    </aside>
  )
}
