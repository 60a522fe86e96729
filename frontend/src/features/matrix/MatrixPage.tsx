import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import { deviationsQuery, isOfWorstHours, shownOf } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import type { Side as AxisSide } from '~/charts/heatmap/Axes'
import { type Cell, LOOK } from '~/charts/heatmap/grid'
import { Heatmap } from '~/charts/heatmap/Heatmap'
import { CLOSEST, clampView, isWhole, reveal, type Shape } from '~/charts/heatmap/view'
import type { TimeSearch } from '~/lib/spans'
import { formatRatio } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { ButtonLink } from '~/ui/links'
import { NotUpdated } from '~/ui/QueryResult'
import { Empty, Failed, Loading, Notice } from '~/ui/State'
import { Waiting } from '~/ui/Waiting'
import { Arrangement } from './Arrangement'
import { useAnnotated } from './annotated'
import { type Line, partKey, zonePairPart, zonesUnder } from './axes'
import { Controls } from './Controls'
import { toggled } from './closed'
import { Find } from './Find'
import { Film } from './film/Film'
import { StepStamp } from './film/StepStamp'
import { useFilm } from './film/useFilm'
import { Head } from './Head'
import { Legend } from './Legend'
import { MatchCount } from './MatchCount'
import { UNUSUAL_ROWS } from './MostUnusual'
import { MovesChoice } from './MovesChoice'
import styles from './matrix.module.css'
import { worst } from './metrics'
import { NoWindow } from './NoWindow'
import { Period } from './Period'
import { pictureLegend } from './picture'
import { useReading } from './reading'
import { Side } from './Side'
import { StaleNotice } from './StaleNotice'
import type { ChangeSearch, MatrixSearch } from './search'
import { marksOf } from './selection'
import { strings } from './strings'
import { Tip } from './Tip'
import { matrixTitle, useMatrix } from './useMatrix'
import { useMoves } from './useMoves'
import { usePosition, written } from './usePosition'
import { useSemanticZoom } from './useSemanticZoom'
import { ZoomButtons } from './ZoomButtons'

interface Props {
  mesh: Mesh
  search: MatrixSearch & TimeSearch
  onSearch: ChangeSearch
  /** The last days of the mesh, above the picture. */
  days?: ReactNode
}

/** With the slider that only moves need. */
const MovesPanel = lazy(() => import('./MovesPanel'))
/** With a row or a column that is selected. */
const SelectedLine = lazy(() => import('./SelectedLine'))

/** The film, the space above it and the edge of the page, in CSS pixels: the picture leaves them in the window. */
const BELOW = 96

const EMPTY: Shape = { rows: 0, columns: 0 }

/** The heatmap of a mesh, and the values of a cell. */
export function MatrixPage({ mesh, search, onSearch, days }: Props) {
  const navigate = useNavigate()
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const film = useFilm(search, onSearch)
  const clock = useClock()
  const asked = shownOf(film.search)
  const { data: deviations } = useQuery(
    deviationsQuery(mesh.id, asked.by, UNUSUAL_ROWS, isOfWorstHours(asked) ? asked.when : undefined),
  )
  // Until something is usual, a heatmap without a metric in its address shows delays instead of nothing.
  const isTooYoung =
    !search.metric && asked.metric === 'deviation' && deviations?.compared === 0 && deviations.no_baseline > 0
  const chosen = isTooYoung ? { ...asked, metric: 'one_way_delay' as const } : asked
  const { query, waiting, shown, coding, matrix, roster, grid, part, entries, matches, ...rest } = useMatrix(
    mesh.id,
    chosen,
    search,
    theme,
  )
  const { losses, colours, domain, isFixed, isOrdering, again } = rest
  const shape: Shape = grid ?? EMPTY
  const isZones = shown.by === 'zone'
  const position = usePosition({
    search,
    onSearch,
    closest: isZones ? 1 : CLOSEST,
    start: partKey(chosen.by, search.zones),
    part,
  })
  const reading = useReading(shown, coding, grid, part, roster)
  const annotated = useAnnotated(mesh.id, shown.when, roster, part)
  const moves = useMoves({ meshId: mesh.id, by: shown.by, search, part, roster, onSearch })
  const [pooled, setPooled] = useState(1)
  // Bands over all that is shown would mark nothing.
  const marked = matches ? undefined : search.find
  const highlighted = useMemo(
    () => part && marksOf(part, entries, marked, search.select),
    [part, entries, marked, search.select],
  )
  const lossOf = ({ row, column }: Cell) => {
    const loss = losses.of(row * shape.columns + column)
    return loss === null ? [] : [strings.shareLost(formatRatio(loss))]
  }
  const selected = entries.findIndex(({ id }) => id === search.select)
  const { view, onAxis } = position
  const { space, onZoomed } = useSemanticZoom({ meshId: mesh.id, shown, search, part, roster, position, onSearch })

  async function open(cell: Cell) {
    const [from, to] = [part?.rows[cell.row], part?.columns[cell.column]]
    if (!from || !to) return
    if (shown.by === 'zone' || from.isClosed || to.isClosed) {
      // A zone without VMs has no paths to show.
      const pair = roster && zonePairPart(roster, [from.zoneId, to.zoneId])
      if (pair) onAxis({ by: 'vm', zones: pair.key, scale: '' })
    } else if (from.id !== to.id) {
      await position.keepCursor(cell)
      await navigate({
        to: '/meshes/$meshId/paths/$source/$target',
        params: { meshId: mesh.id, source: from.id, target: to.id },
        search: { statistic: shown.statistic, ...film.around },
      })
    }
  }

  function toggle(zones: string[]) {
    if (!roster || zones.length === 0) return
    const all = roster.zones.filter(({ count }) => count > 0).map(({ id }) => id)
    void onSearch({ closed: toggled(search.closed, all, zones), view: '' })
  }

  /** Open a closed zone at its label; another row or column is selected, or no longer. */
  function onLabel(side: AxisSide, index: number) {
    const line = (side === 'row' ? part?.rows : part?.columns)?.[index]
    if (line?.isClosed) toggle([line.zoneId])
    else if (line) void onSearch({ select: line.id === search.select ? '' : line.id })
  }

  /** Show the row of a VM that was found, when the picture is magnified elsewhere. */
  function select(id: string) {
    const index = entries.findIndex((entry) => entry.id === id)
    const find = (lines: Line[]) => lines.findIndex(({ first, count }) => index >= first && index < first + count)
    const at = part && { row: find(part.rows), column: find(part.columns) }
    const next = at && reveal(view, { row: Math.max(0, at.row), column: Math.max(0, at.column) }, shape)
    void onSearch({ select: id, ...(next && !isWhole(next, shape) ? { view: written(next) } : {}) })
  }

  function zoomBy(ratio: number) {
    const count = view.count / ratio
    const centre = { row: view.row + view.count / 2, column: view.column + view.count / 2 }
    const next = { row: centre.row - count / 2, column: centre.column - count / 2, count }
    onZoomed(clampView(next, shape, isZones ? 1 : CLOSEST), { x: 0.5, y: 0.5 })
  }

  if (query.error && !query.data) {
    return <Failed what={strings.heatmap} error={query.error} retry={() => void query.refetch()} />
  }
  if (!matrix || !grid || !part || !reading) {
    return (
      <div className={styles.page}>
        <Head mesh={mesh} roster={undefined} windowEnd={undefined} />
        <Period mesh={mesh} shown={chosen} onSearch={onSearch} />
        {waiting ? <Waiting what={strings.heatmapLower} waiting={waiting} /> : <Loading what={strings.heatmapLower} />}
      </div>
    )
  }
  // Another person may have deleted the mesh meanwhile.
  const notUpdated = <NotUpdated error={query.error} what={strings.heatmapLower} />
  if (shape.rows === 0) {
    return query.error ? (
      notUpdated
    ) : (
      <Empty
        title={strings.noVms(mesh.name)}
        action={
          <ButtonLink to="/onboarding" search={{ mesh: mesh.id }}>
            {strings.addVm}
          </ButtonLink>
        }
      >
        {strings.noVmsLead}
      </Empty>
    )
  }
  const vms = roster?.vms.length ?? 0
  const { windowEnd } = matrix
  const hasMoves = moves?.overlay !== undefined
  return (
    <div className={styles.page}>
      <Head
        mesh={mesh}
        roster={roster}
        windowEnd={shown.when ? undefined : matrix.windowEnd}
        choice={<MovesChoice meshId={mesh.id} chosen={search.moves} onSearch={onSearch} />}
      >
        <StepStamp film={film} />
      </Head>
      {days}
      <div className={styles.bar}>
        <Controls mesh={mesh} chosen={chosen} onSearch={onSearch} onAxis={onAxis} />
        <Arrangement
          order={search.order ?? 'zone'}
          canCollapse={shown.by === 'vm' && !part.zones && (roster?.zones.length ?? 0) > 1}
          isAnyClosed={part.rows.some(({ isClosed }) => isClosed)}
          isOrdering={isOrdering}
          again={again}
          onSearch={onSearch}
        />
        <Find
          by={shown.by}
          entries={entries}
          find={search.find ?? ''}
          isOnly={search.only ?? false}
          onFind={(find) => void onSearch({ find, ...(search.only ? { view: '' } : {}) })}
          onOnly={(only) => void onSearch({ only, view: '' })}
          onSelect={select}
        />
        <ZoomButtons shape={shape} view={view} zoomBy={zoomBy} onWhole={() => onSearch({ view: '' })} />
        <Period mesh={mesh} shown={chosen} picture={matrixTitle(shown)} onSearch={onSearch} />
      </div>
      {matches && (
        <MatchCount
          by={shown.by}
          find={search.find ?? ''}
          matches={matches}
          onAll={() => onSearch({ only: false, view: '' })}
        />
      )}
      {vms > 1 &&
        !shown.when &&
        !matches &&
        grid.looks.every((look) => look === LOOK.dotted || look === LOOK.lined) && <NoWindow mesh={mesh} />}
      {roster && !shown.when && <StaleNotice mesh={mesh} roster={roster} by={shown.by} matrix={matrix} />}
      {vms === 1 && (
        <Notice tone="info">
          {strings.secondVmNeeded}{' '}
          <Link to="/onboarding" search={{ mesh: mesh.id }}>
            {strings.addVm}
          </Link>
        </Notice>
      )}
      {waiting && <Waiting what={strings.heatmapLower} waiting={waiting} />}
      {notUpdated}
      <div className={styles.main}>
        <div className={styles.picture} data-waiting={query.isPlaceholderData || undefined}>
          <Heatmap
            label={strings.metricBy(matrixTitle(shown), shown.by === 'zone' ? strings.zonePair : strings.path)}
            grid={grid}
            axes={part.axes}
            colours={colours}
            worst={worst(coding)}
            theme={theme}
            describe={(cell) =>
              [
                reading.sentence(cell),
                ...lossOf(cell),
                ...(moves?.wordsOf(cell) ?? []),
                ...annotated.labelsOf(cell),
              ].join('; ')
            }
            figure={reading.figure}
            tooltip={(cell) => (
              <Tip
                meshId={mesh.id}
                shown={shown}
                part={part}
                reading={reading}
                cell={cell}
                annotations={[...lossOf(cell), ...annotated.labelsOf(cell)]}
                moves={moves?.wordsOf(cell) ?? []}
              />
            )}
            cursor={position.cursor}
            onCursor={position.onCursor}
            onHover={position.onHover}
            onOpen={(cell) => void open(cell)}
            view={view}
            onView={onZoomed}
            space={space}
            closest={isZones ? 1 : CLOSEST}
            onPooled={setPooled}
            marked={annotated.marked}
            squares={losses.cells}
            onGroup={part.zones ? undefined : (id) => toggle(zonesUnder(part, id))}
            onLabel={onLabel}
            highlighted={highlighted}
            overlay={moves?.overlay}
            legend={() => pictureLegend({ shown, coding, grid, domain, theme, windowEnd, clock, hasMoves })}
            below={BELOW}
          />
          <Film meshId={mesh.id} shown={chosen} film={film} />
        </div>
        <Side
          meshId={mesh.id}
          shown={shown}
          part={part}
          reading={reading}
          position={position}
          shape={shape}
          moves={
            moves && (
              <Suspense fallback={<Loading what={strings.movesLower} />}>
                <MovesPanel {...{ meshId: mesh.id, moves, theme, onSearch }} />
              </Suspense>
            )
          }
          legend={
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
              lossy={losses.cells.length}
              onScale={(scale) => onSearch({ scale })}
            />
          }
        >
          {selected >= 0 && (
            <Suspense>
              <SelectedLine
                meshId={mesh.id}
                shown={shown}
                coding={coding}
                matrix={matrix}
                entries={entries}
                index={selected}
                onClear={() => void onSearch({ select: '' })}
              />
            </Suspense>
          )}
        </Side>
      </div>
    </div>
  )
}
