import { Button, useComputedColorScheme } from '@mantine/core'
import { useDebouncedCallback, useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { deviationsQuery, pathQuery, shownOf } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import { type Cell, LOOK, type Look } from '~/charts/heatmap/grid'
import { Heatmap } from '~/charts/heatmap/Heatmap'
import { clampView, isWhole, type Shape, type View, wholeView } from '~/charts/heatmap/view'
import { valueOfCode } from '~/lib/codes'
import { facts, measure } from '~/lib/metrics'
import { numbers } from '~/lib/searchParams'
import { formatDelay, formatExact } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { Empty, Failed, Loading, Notice } from '~/ui/State'
import { Waiting } from '~/ui/Waiting'
import { partKey, zonePairPart } from './axes'
import { CellDetail } from './CellDetail'
import { Controls } from './Controls'
import { Legend } from './Legend'
import { MostUnusual, UNUSUAL_ROWS } from './MostUnusual'
import styles from './matrix.module.css'
import { worst } from './metrics'
import { Period } from './Period'
import type { MatrixSearch } from './search'
import { sentence, stateName } from './states'
import { strings } from './strings'
import { matrixTitle, useMatrix } from './useMatrix'
import { WindowStamp } from './WindowStamp'
import { ZoneDetail } from './ZoneDetail'
import { ZonePair } from './ZonePair'
import { ZoomButtons } from './ZoomButtons'

interface Props {
  mesh: Mesh
  search: MatrixSearch
  /** Resolves once the URL has changed. */
  onSearch: (patch: MatrixSearch) => Promise<void>
}

/** A cell of one part of the mesh: the same indices stand for something else in another part. */
interface Spot extends Cell {
  part: string
}

const EMPTY: Shape = { rows: 0, columns: 0 }

function viewOf(text: string | undefined, shape: Shape): View {
  const parts = numbers(text, 3)
  return parts
    ? clampView({ row: parts[0] as number, column: parts[1] as number, count: parts[2] as number }, shape)
    : wholeView(shape)
}

const written = ({ row, column, count }: View) => [row, column, count].map((part) => Number(part.toFixed(2))).join(',')

/** The heatmap of a mesh, and the values of a cell. */
export function MatrixPage({ mesh, search, onSearch }: Props) {
  const navigate = useNavigate()
  const clock = useClock()
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const asked = shownOf(search)
  const { data: deviations } = useQuery({
    ...deviationsQuery(mesh.id, asked.by, UNUSUAL_ROWS),
    enabled: !asked.when,
  })
  // Until something is usual, a heatmap without a metric in its address shows delays instead of nothing.
  const isTooYoung = !search.metric && !asked.when && deviations?.compared === 0 && deviations.no_baseline > 0
  const chosen = isTooYoung ? { ...asked, metric: 'one_way_delay' as const } : asked
  const { query, waiting, shown, coding, matrix, grid, part, colours, domain, isFixed } = useMatrix(
    mesh.id,
    chosen,
    search,
    theme,
  )
  const { format } = facts(coding)
  const shape: Shape = grid ?? EMPTY
  const { rows, columns } = shape

  const [cursor, setCursor] = useState<Spot | null>(() => {
    const parts = numbers(search.cell, 2)
    const key = partKey(chosen.by, search.zones)
    return parts ? { row: parts[0] as number, column: parts[1] as number, part: key } : null
  })
  const [hovered, setHovered] = useState<Spot | null>(null)
  const [pooled, setPooled] = useState(1)
  const key = part?.key ?? ''
  const inGrid = (spot: Spot | null) =>
    spot && spot.part === key && spot.row < rows && spot.column < columns ? spot : null
  const active = inGrid(hovered) ?? inGrid(cursor)

  const rememberCell = useDebouncedCallback((cell: Cell) => onSearch({ cell: `${cell.row},${cell.column}` }), 400)
  const onCursor = useCallback(
    (cell: Cell) => {
      setCursor({ ...cell, part: key })
      rememberCell(cell)
    },
    [rememberCell, key],
  )
  const onHover = useCallback((cell: Cell | null) => setHovered(cell && { ...cell, part: key }), [key])
  const onView = useCallback(
    (next: View) => onSearch({ view: isWhole(next, { rows, columns }) ? '' : written(next) }),
    [onSearch, rows, columns],
  )
  // Another axis has other cells: the cursor does not carry over.
  const onAxis = useCallback(
    (patch: MatrixSearch) => {
      rememberCell.cancel()
      setCursor(null)
      onSearch({ cell: '', view: '', zones: '', ...patch })
    },
    [onSearch, rememberCell],
  )
  const view = useMemo(() => viewOf(search.view, { rows, columns }), [search.view, rows, columns])

  const read = useMemo(() => {
    const at = (cell: Cell) => cell.row * columns + cell.column
    return {
      look: (cell: Cell) => (grid?.looks[at(cell)] ?? LOOK.lined) as Look,
      value: (cell: Cell) => valueOfCode(coding, grid?.codes[at(cell)] ?? 0),
    }
  }, [grid, columns, coding])

  // Only a cell under the pointer for a moment is requested; sweeping over a row requests nothing.
  const [pointed] = useDebouncedValue(active, 120)
  const settled = inGrid(pointed)
  const source = settled && part?.rows[settled.row]
  const target = settled && part?.columns[settled.column]
  const isPath = shown.by === 'vm' && source && target && source.id !== target.id
  const detail = useQuery({ ...pathQuery(mesh.id, source?.id ?? '', target?.id ?? ''), enabled: Boolean(isPath) })

  // A usual value has no figure: what is unusual stands out.
  const isUsual = useCallback((cell: Cell) => coding === 'deviation' && read.value(cell) === 0, [coding, read])
  const figure = useCallback(
    (cell: Cell) => {
      const value = read.value(cell)
      return value === null || isUsual(cell) ? null : format(value)
    },
    [read, isUsual, format],
  )

  const words = (cell: Cell) => {
    if (isUsual(cell)) return strings.asUsual
    const text = figure(cell)
    return text !== null && coding === 'deviation' ? strings.fromUsual(text) : text
  }

  async function open(cell: Cell) {
    const [from, to] = [part?.rows[cell.row], part?.columns[cell.column]]
    if (!from || !to) return
    if (shown.by === 'zone') {
      // A zone without VMs has no paths to show.
      const pair = query.data && zonePairPart(query.data.roster, [from.id, to.id])
      if (pair) onAxis({ by: 'vm', zones: pair.key, scale: '' })
    } else if (from.id !== to.id) {
      rememberCell.cancel()
      // First store the present position, so that Back returns to it.
      await onSearch({ cell: `${cell.row},${cell.column}` })
      await navigate({
        to: '/meshes/$meshId/paths/$source/$target',
        params: { meshId: mesh.id, source: from.id, target: to.id },
        search: { statistic: shown.statistic },
      })
    }
  }

  function zoomBy(ratio: number) {
    const count = view.count / ratio
    const centre = { row: view.row + view.count / 2, column: view.column + view.count / 2 }
    onView(clampView({ row: centre.row - count / 2, column: centre.column - count / 2, count }, shape))
  }

  if (query.error && !query.data) {
    return <Failed what={strings.heatmap} error={query.error} retry={() => void query.refetch()} />
  }
  if (!matrix || !grid || !part) {
    if (!waiting) return <Loading what={strings.heatmapLower} />
    return (
      <div className={styles.page}>
        <header className={styles.head}>
          <h1>{mesh.name}</h1>
        </header>
        <Period mesh={mesh} shown={chosen} search={search} clock={clock} onSearch={onSearch} />
        <Waiting what={strings.heatmapLower} waiting={waiting} />
      </div>
    )
  }
  if (rows === 0) {
    return (
      <Empty
        title={strings.noVms(mesh.name)}
        action={
          <Button renderRoot={(root) => <Link {...root} to="/onboarding" search={{ mesh: mesh.id }} />}>
            {strings.addVm}
          </Button>
        }
      >
        {strings.noVmsLead}
      </Empty>
    )
  }
  const vms = query.data?.roster.vms.length ?? 0
  const zones = query.data?.roster.zones.length ?? 0
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div>
          <h1>{mesh.name}</h1>
          <p>
            {strings.meshSummary(
              vms,
              vms === 1 ? strings.vm : strings.vms,
              zones,
              zones === 1 ? strings.zone : strings.zones,
              mesh.rate_hz,
              mesh.rate_hz === 1 ? strings.exchange : strings.exchanges,
            )}
          </p>
        </div>
        {!shown.when && <WindowStamp end={matrix.windowEnd} windowS={mesh.window_s} clock={clock} />}
      </header>
      <div className={styles.bar}>
        <Controls mesh={mesh} chosen={chosen} onSearch={onSearch} onAxis={onAxis} />
        <ZoomButtons shape={shape} view={view} zoomBy={zoomBy} onWhole={() => onSearch({ view: '' })} />
      </div>
      <Period mesh={mesh} shown={chosen} search={search} clock={clock} onSearch={onSearch} />
      {vms > 1 && !shown.when && grid.looks.every((look) => look === LOOK.dotted || look === LOOK.lined) && (
        <Notice tone="info">{strings.waitingForWindow(mesh.window_s)}</Notice>
      )}
      {vms === 1 && <Notice tone="info">{strings.secondVmNeeded}</Notice>}
      {waiting && <Waiting what={strings.heatmapLower} waiting={waiting} />}
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
              sentence(
                part.rows[cell.row]?.name ?? '',
                part.columns[cell.column]?.name ?? '',
                read.look(cell),
                words(cell),
                shown.when?.versus ? 'change' : measure(shown.metric, shown.statistic),
              )
            }
            figure={figure}
            tooltip={(cell) => {
              const exact =
                isPath && settled?.row === cell.row && settled.column === cell.column ? detail.data : undefined
              const direction = shown.metric === 'one_way_delay' && !shown.when ? exact?.outbound : undefined
              return (
                <div className={styles.tip}>
                  <span>
                    {part.rows[cell.row]?.name} → {part.columns[cell.column]?.name}
                  </span>
                  <strong>{words(cell) ?? stateName(read.look(cell))}</strong>
                  {direction && (
                    <span className={styles.exact}>
                      {formatExact(direction[`${shown.statistic}_ns`])} ± {formatDelay(direction.clock_error_ns)}
                    </span>
                  )}
                  {read.look(cell) === LOOK.veiled && <span>{strings.stale}</span>}
                  {grid.faint?.[cell.row * columns + cell.column] === 1 && <span>{strings.withinItsClockError}</span>}
                </div>
              )
            }}
            cursor={inGrid(cursor)}
            onCursor={onCursor}
            onHover={onHover}
            onOpen={(cell) => void open(cell)}
            view={view}
            onView={onView}
            onPooled={setPooled}
          />
          <Legend
            shown={shown}
            coding={coding}
            grid={grid}
            domain={domain}
            isFixed={isFixed}
            theme={theme}
            marked={active ? read.value(active) : null}
            pooled={pooled}
            onScale={(scale) => onSearch({ scale })}
          />
        </div>
        <aside className={styles.side}>
          {part.zones && <ZonePair zones={part.zones} shape={shape} onAxis={onAxis} />}
          {shown.by === 'vm' && source && target ? (
            <CellDetail
              meshId={mesh.id}
              source={source}
              target={target}
              look={settled ? read.look(settled) : LOOK.lined}
              path={isPath ? detail.data : undefined}
              clock={clock}
              isLive={!shown.when}
            />
          ) : shown.by === 'zone' && source && target ? (
            <ZoneDetail meshId={mesh.id} source={source} target={target} isLive={!shown.when} />
          ) : (
            <p className={styles.hint}>{shown.by === 'zone' ? strings.zoneHint : strings.cellHint}</p>
          )}
          {!shown.when && <MostUnusual meshId={mesh.id} by={shown.by} />}
        </aside>
      </div>
    </div>
  )
}
