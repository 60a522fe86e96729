import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useState } from 'react'
import { deviationsQuery, shownOf } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import { Heatmap } from '~/charts/heatmap/Heatmap'
import { CLOSEST } from '~/charts/heatmap/view'
import type { Patch } from '~/lib/searchParams'
import type { TimeSearch } from '~/lib/spans'
import { useClock } from '~/ui/clock'
import { Empty, Failed, Loading } from '~/ui/State'
import { partKey } from './axes'
import { Legend } from './Legend'
import { UNUSUAL_ROWS } from './MostUnusual'
import styles from './matrix.module.css'
import { worst } from './metrics'
import { pictureLegend } from './picture'
import { useReading } from './reading'
import { type MatrixSearch, matrixSearch } from './search'
import { strings } from './strings'
import { matrixTitle, useMatrix } from './useMatrix'
import { useMoves } from './useMoves'
import { usePosition } from './usePosition'
import { WindowStamp } from './WindowStamp'

interface Props {
  mesh: Pick<Mesh, 'id' | 'name' | 'window_s'>
  search: MatrixSearch & TimeSearch
}

const MovesPanel = lazy(() => import('./MovesPanel'))

const BELOW = 40

/** The heatmap of a mesh without its controls, for a frame in another page. */
export function EmbeddedMatrix({ mesh, search: asked }: Props) {
  const clock = useClock()
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  // What a reader does stays in the frame: its address belongs to the page around it.
  const [search, setSearch] = useState(asked)
  const onSearch = useCallback(async (patch: Patch<MatrixSearch>) => {
    setSearch((old) => ({ ...old, ...matrixSearch({ ...old, ...patch }) }))
  }, [])
  // Lost performance needs an application, which a link to a mesh does not show.
  const { metric, ...others } = search
  const values = shownOf(metric === 'predicted_loss' ? others : search)
  const { data: deviations } = useQuery(deviationsQuery(mesh.id, values.by, UNUSUAL_ROWS))
  const isTooYoung = !search.metric && values.metric === 'deviation' && deviations?.compared === 0
  const chosen = isTooYoung ? { ...values, metric: 'one_way_delay' as const } : values
  const { query, shown, coding, matrix, roster, grid, part, colours, domain, isFixed } = useMatrix(
    mesh.id,
    chosen,
    search,
    theme,
  )
  const closest = shown.by === 'zone' ? 1 : CLOSEST
  const position = usePosition({ search, onSearch, closest, start: partKey(chosen.by, search.zones), part })
  const reading = useReading(shown, coding, grid, part, roster)
  const moves = useMoves({ meshId: mesh.id, by: shown.by, search, part, roster, onSearch, hasApplications: false })
  const [pooled, setPooled] = useState(1)
  if (query.error && !query.data) {
    return <Failed what={strings.heatmap} error={query.error} retry={() => void query.refetch()} />
  }
  if (!matrix || !grid || !part || !reading) return <Loading what={strings.heatmapLower} />
  if (grid.rows === 0) return <Empty title={strings.noVms(mesh.name)}>{''}</Empty>
  const { windowEnd } = matrix
  const hasMoves = moves?.overlay !== undefined
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div>
          <h1>{mesh.name}</h1>
          <p>{matrixTitle(shown)}</p>
        </div>
        {!shown.when && <WindowStamp end={matrix.windowEnd} windowS={mesh.window_s} clock={clock} />}
      </header>
      <div className={styles.main}>
        <div className={styles.picture}>
          <Heatmap
            label={strings.metricBy(matrixTitle(shown), shown.by === 'zone' ? strings.zonePair : strings.path)}
            grid={grid}
            axes={part.axes}
            colours={colours}
            worst={worst(coding)}
            theme={theme}
            describe={reading.sentence}
            figure={reading.figure}
            tooltip={reading.sentence}
            cursor={position.cursor}
            onCursor={position.onCursor}
            onHover={position.onHover}
            onOpen={position.onCursor}
            view={position.view}
            onView={position.onView}
            closest={closest}
            onPooled={setPooled}
            overlay={moves?.overlay}
            legend={() => pictureLegend({ shown, coding, grid, domain, theme, windowEnd, clock, hasMoves })}
            below={BELOW}
          />
        </div>
        <aside className={styles.side}>
          {moves && (
            <Suspense fallback={<Loading what={strings.movesLower} />}>
              <MovesPanel {...{ meshId: mesh.id, moves, theme, onSearch }} isEmbedded />
            </Suspense>
          )}
          <Legend
            shown={shown}
            coding={coding}
            grid={grid}
            domain={domain}
            isFixed={isFixed}
            theme={theme}
            position={position}
            part={part}
            value={reading.value}
            pooled={pooled}
            onScale={(scale) => void onSearch({ scale })}
          />
        </aside>
      </div>
    </div>
  )
}
