import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react'
import { type Drawing, offerDrawing } from '~/lib/picture/drawing'
import { markTime } from '~/lib/userTiming'
import { Arrows, type Overlay } from './Arrows'
import { Axes, type Side } from './Axes'
import { type Axis, type AxisPair, gutters, sideOf } from './axis'
import { heatmapDrawing, type Paint } from './drawing'
import { type Cell, type Grid, pool, type Worst } from './grid'
import styles from './heatmap.module.css'
import type { ColourTable, Theme } from './palette'
import { drawFigures, drawMarks, drawPicture, drawRules, drawSquares, type Marked, makePicture } from './picture'
import { Transition } from './Transition'
import type { Space } from './transition'
import { useStage } from './useStage'
import { useZoom } from './useZoom'
import { CLOSEST, cellAt, inView, longest, type Point, reveal, step, type View } from './view'

interface Props {
  /** The accessible name of the grid. */
  label: string
  grid: Grid
  axes: AxisPair
  colours: ColourTable
  worst: Worst
  theme: Theme
  /** A cell as a sentence. */
  describe: (cell: Cell) => string
  /** Text of a cell with enough room; `null` for none. */
  figure: (cell: Cell) => string | null
  tooltip: (cell: Cell) => ReactNode
  cursor: Cell | null
  onCursor: (cell: Cell) => void
  onHover: (cell: Cell | null) => void
  onOpen: (cell: Cell) => void
  view: View
  /** A gesture ended; `at` is the pointer as a share of the picture. */
  onView: (view: View, at?: Point) => void
  /** Number of cells per pixel in each direction; 1 when cells do not share pixels. */
  onPooled: (factor: number) => void
  /** Rows and columns whose cells have a mark in their corner. */
  marked?: Marked | undefined
  /** Indices, ascending, of cells with a solid mark, whatever their colour. */
  squares?: readonly number[] | undefined
  /** The height of what stands below the picture in the same window, in CSS pixels. */
  below: number
  /** A heading was pressed. */
  onGroup?: ((id: string) => void) | undefined
  /** A label was pressed, or Shift or Ctrl with Space on a cell of its row or column. */
  onLabel?: (side: Side, index: number) => void
  /** The places of the rows and columns in a space that other grids share: the picture moves between them. */
  space?: Space | undefined
  /** The fewest rows and columns that the view can be zoomed to. */
  closest?: number
  /** Rows and columns that stand out. */
  highlighted?: Record<Side, ReadonlySet<number>> | undefined
  /** Arrows over the picture. */
  overlay?: Overlay | undefined
  /** The legend and the time of a picture of the grid. */
  legend?: (() => Pick<Drawing, 'keys' | 'scale' | 'range'>) | undefined
}

/** A grid of coloured square cells on a canvas, usable by pointer, keyboard and screen reader. */
export function Heatmap(props: Props) {
  const { grid, axes, colours, worst, theme, figure, cursor, marked, squares, highlighted, space } = props
  const { rows, columns } = grid
  const shape = useMemo(() => ({ rows, columns }), [rows, columns])
  const size = longest(shape)
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<HTMLDivElement>(null)
  const surface = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const scratch = useRef<HTMLCanvasElement>(null)
  const paint = useRef<Paint>(() => {})
  const stage = useStage(frame, props.below)
  const { density } = stage
  const room = useMemo(() => gutters(axes, props.view.count, stage), [axes, props.view.count, stage])
  const side = stage.width === 0 && stage.height === 0 ? 0 : sideOf(room, stage, size)
  const [left, top] = [room.left.size, room.top.size]
  const view = useZoom(surface, { shape, side, closest: props.closest ?? CLOSEST }, props.view, props.onView)
  const [hovered, setHovered] = useState<Cell | null>(null)
  const [focused, setFocused] = useState(false)
  const [hoveredOn, setHoveredOn] = useState(axes)
  // Other axes have other cells: the pointer is on none of them until it moves.
  if (hoveredOn !== axes) {
    setHoveredOn(axes)
    setHovered(null)
  }
  const cellId = useId()

  const cell = side / view.count
  const shown = inView(view, shape)
  const [width, height] = [shown.columns * cell, shown.rows * cell]
  const [across, down] = [Math.round(width * density), Math.round(height * density)]
  const factor = side === 0 ? 1 : Math.max(1, Math.ceil(view.count / Math.round(side * density)))
  const pooled = useMemo(() => (factor === 1 ? grid : pool(grid, factor, worst)), [grid, factor, worst])
  const picture = useMemo(() => makePicture(pooled, shape, colours, factor), [pooled, shape, colours, factor])
  const boundaries = useMemo(() => {
    const of = ({ groups }: Axis) => groups.flatMap((level) => level.slice(1).map(({ first }) => first))
    return { rows: of(axes.rows), columns: of(axes.columns) }
  }, [axes])

  const placed = useMemo(() => (space && cell > 0 ? { space, shape, view, cell } : null), [space, shape, view, cell])

  const { onPooled } = props
  useEffect(() => onPooled(factor), [onPooled, factor])

  useEffect(() => {
    paint.current = (target, density) => {
      const context = target.getContext('2d')
      if (!context) return
      scratch.current ??= document.createElement('canvas')
      const { width, height } = target
      const surface = { context, view, width, height, cell: cell * density, density, theme }
      drawPicture(surface, scratch.current, picture)
      drawRules(surface, boundaries)
      if (marked) drawMarks(surface, grid, marked)
      if (squares?.length) drawSquares(surface, scratch.current, grid, squares)
      drawFigures(surface, grid, colours, figure)
    }
    if (!canvas.current || across === 0 || down === 0) return
    paint.current(canvas.current, density)
    markTime('heatmap drawn')
  }, [picture, view, across, down, cell, density, theme, boundaries, grid, colours, figure, marked, squares])

  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    const [whole, cells] = [plot.current, canvas.current]
    if (!whole || !cells) return
    return offerDrawing(whole, () => {
      const { axes, legend } = latest.current
      const corner = [`${axes.columns.title} →`, `${axes.rows.title} ↓`]
      return { ...heatmapDrawing(whole, cells, paint.current, corner), ...legend?.() }
    })
  }, [])

  function point(event: MouseEvent): Cell | null {
    const box = event.currentTarget.getBoundingClientRect()
    // The box is in pixels of the screen, which a wall screen magnifies.
    const zoom = box.width / width || 1
    return cellAt((event.clientX - box.left) / zoom, (event.clientY - box.top) / zoom, view, shape, side)
  }

  function hover(cell: Cell | null) {
    if (cell?.row === hovered?.row && cell?.column === hovered?.column) return
    setHovered(cell)
    props.onHover(cell)
  }

  function onKeyDown(event: KeyboardEvent) {
    const from = cursor ?? { row: 0, column: 0 }
    if (event.key === ' ' && props.onLabel && (event.shiftKey || event.ctrlKey)) {
      event.preventDefault()
      props.onLabel(event.shiftKey ? 'row' : 'column', event.shiftKey ? from.row : from.column)
      return
    }
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      props.onOpen(from)
      return
    }
    const next = step(from, event.key, event.ctrlKey || event.metaKey, shape)
    if (!next) return
    event.preventDefault()
    props.onCursor(next)
    const followed = reveal(view, next, shape)
    if (followed.row !== view.row || followed.column !== view.column) props.onView(followed)
  }

  const active = hovered ?? (focused ? cursor : null)
  const place = (target: Cell) => ({ x: (target.column - view.column) * cell, y: (target.row - view.row) * cell })
  return (
    <div ref={frame} className={styles.frame}>
      <div ref={plot} className={styles.plot} style={{ width: left + width, height: top + height }}>
        <Axes
          axes={axes}
          view={view}
          room={room}
          width={width}
          height={height}
          cell={cell}
          active={active}
          highlighted={highlighted}
          onGroup={props.onGroup}
          onLabel={props.onLabel}
        />
        {/* biome-ignore lint/a11y/useSemanticElements: a canvas grid of up to a million cells cannot be a table */}
        <div
          role="grid"
          tabIndex={0}
          data-return-focus={cursor ? '' : undefined}
          aria-label={props.label}
          aria-rowcount={rows}
          aria-colcount={columns}
          aria-activedescendant={cellId}
          aria-keyshortcuts="ArrowUp ArrowDown ArrowLeft ArrowRight Home End Enter Shift+Space Control+Space"
          className={styles.grid}
          style={{ left, top, width, height }}
          onKeyDown={onKeyDown}
          onFocus={() => {
            setFocused(true)
            if (!cursor) props.onCursor({ row: 0, column: Math.min(1, columns - 1) })
          }}
          onBlur={() => setFocused(false)}
        >
          {/* biome-ignore lint/a11y/useSemanticElements: see the grid */}
          {/* biome-ignore lint/a11y/useFocusableInteractive: the grid holds the focus */}
          <div role="row" aria-rowindex={(cursor?.row ?? 0) + 1} className={styles.reader}>
            {/* biome-ignore lint/a11y/useSemanticElements: see the grid */}
            {/* biome-ignore lint/a11y/useFocusableInteractive: the grid holds the focus */}
            <div role="gridcell" id={cellId} aria-colindex={(cursor?.column ?? 0) + 1} aria-selected={cursor !== null}>
              {props.describe(cursor ?? { row: 0, column: 0 })}
            </div>
          </div>
          <div
            ref={surface}
            className={styles.stage}
            style={{ width, height }}
            onPointerMove={(event) => hover(point(event))}
            onPointerLeave={() => hover(null)}
            onClick={(event) => {
              const clicked = point(event)
              if (clicked) props.onOpen(clicked)
            }}
            aria-hidden="true"
          >
            <canvas ref={canvas} className={styles.canvas} width={across} height={down} style={{ width, height }} />
            <Transition canvas={canvas} space={space} placed={placed} />
            {props.overlay && cell > 0 && <Arrows of={props.overlay} {...{ view, cell, width, height, theme }} />}
            {highlighted && <Highlights of={highlighted} view={view} cell={cell} width={width} height={height} />}
            {active && (
              <>
                <div
                  className={styles.band}
                  style={{ left: -1, right: -1, top: place(active).y - 1, height: cell + 1 }}
                />
                <div
                  className={styles.band}
                  style={{ top: -1, bottom: -1, left: place(active).x - 1, width: cell + 1 }}
                />
              </>
            )}
            {focused && cursor && (
              <div
                className={styles.ring}
                style={{ left: place(cursor).x, top: place(cursor).y, width: cell - 1, height: cell - 1 }}
              />
            )}
          </div>
        </div>
        {hovered && (
          <div
            className={styles.tip}
            style={tipPlace(place(hovered), cell, { width, height }, { left, top })}
            aria-hidden="true"
          >
            {props.tooltip(hovered)}
          </div>
        )}
      </div>
    </div>
  )
}

interface HighlightsProps {
  of: Record<Side, ReadonlySet<number>>
  view: View
  cell: number
  width: number
  height: number
}

/** Bands over rows and columns that stand out; too many of them would hide the picture. */
function Highlights({ of, view, cell, width, height }: HighlightsProps) {
  const bands = (indices: ReadonlySet<number>, start: number, length: number) =>
    indices.size > MOST_HIGHLIGHTED
      ? []
      : [...indices]
          .map((index) => ({ index, at: (index - start) * cell }))
          .filter(({ at }) => at + cell > 0 && at < length)
  return (
    <>
      {bands(of.row, view.row, height).map(({ index, at }) => (
        <div key={`row ${index}`} className={styles.highlight} style={{ left: 0, right: 0, top: at, height: cell }} />
      ))}
      {bands(of.column, view.column, width).map(({ index, at }) => (
        <div
          key={`column ${index}`}
          className={styles.highlight}
          style={{ top: 0, bottom: 0, left: at, width: cell }}
        />
      ))}
    </>
  )
}

const MOST_HIGHLIGHTED = 64

/** Place the tip next to the cell, on the side with more room, so that it does not cover the cell. */
function tipPlace(
  { x, y }: { x: number; y: number },
  cell: number,
  { width, height }: { width: number; height: number },
  room: { left: number; top: number },
) {
  const horizontal = x + cell / 2 < width / 2 ? { left: room.left + x + cell + 8 } : { right: width - x + 8 }
  const vertical = y + cell / 2 < height / 2 ? { top: room.top + y } : { bottom: height - y - cell }
  return { ...horizontal, ...vertical }
}
