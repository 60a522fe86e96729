/** Drawing: a picture of one pixel per cell, scaled without smoothing; hatches and rules in device pixels above it. */

import { bisectLeft } from 'd3-array'
import { type Cell, type Grid, LOOK } from './grid'
import { HATCHES, type Hatch, tile } from './hatch'
import { paint, stencil } from './paint'
import { type ColourTable, PAGE, pack, type Rgb, type Theme } from './palette'
import { inView, type Shape, type View } from './view'

/** The pixels to draw on: the view, `cell` device pixels for each of its cells. */
export interface Surface {
  context: CanvasRenderingContext2D
  view: View
  width: number
  height: number
  cell: number
  density: number
  theme: Theme
}

/** A grid painted once; zooming and panning only copy from it. */
export interface Picture {
  shape: Shape
  base: HTMLCanvasElement
  stencils: { hatch: Hatch; mask: HTMLCanvasElement }[]
  /** Number of cells per pixel in each direction. */
  factor: number
}

function canvasOf(width: number, height: number, fill: (pixels: Uint32Array) => void): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, width)
  canvas.height = Math.max(1, height)
  const context = canvas.getContext('2d')
  if (context && width > 0 && height > 0) {
    const image = context.createImageData(width, height)
    fill(new Uint32Array(image.data.buffer))
    context.putImageData(image, 0, 0)
  }
  return canvas
}

/** Paint a grid, which may be pooled, as the picture of a grid of `shape`. */
export function makePicture(grid: Grid, shape: Shape, colours: ColourTable, factor: number): Picture {
  const present = HATCHES.filter((hatch) => grid.looks.includes(hatch))
  return {
    shape,
    factor,
    base: canvasOf(grid.columns, grid.rows, (pixels) => paint(grid, colours, pixels)),
    stencils: present.map((hatch) => ({
      hatch,
      mask: canvasOf(grid.columns, grid.rows, (pixels) => stencil(grid.looks, hatch, pixels)),
    })),
  }
}

type Ink = readonly [number, number, number]

const INK: Record<Theme, Ink> = { light: [20, 23, 27], dark: [236, 238, 241] }

function hatchCanvas(hatch: Hatch, density: number, [red, green, blue]: Ink): HTMLCanvasElement {
  const { size, alpha } = tile(hatch, density)
  const ink = (blue << 16) | (green << 8) | red
  return canvasOf(size, size, (pixels) => {
    for (let i = 0; i < alpha.length; i++) pixels[i] = ((alpha[i] as number) << 24) | ink
  })
}

/** A veil is page-coloured stripes over a colour; the other hatches are ink on the page. */
export function hatchPattern(context: CanvasRenderingContext2D, hatch: Hatch, density: number, theme: Theme) {
  return context.createPattern(hatchCanvas(hatch, density, hatch === LOOK.veiled ? PAGE[theme] : INK[theme]), 'repeat')
}

/** Blits what is in view, then pours each hatch through its stencil. */
export function drawPicture(surface: Surface, scratch: HTMLCanvasElement, picture: Picture) {
  const { context, view, width, height, density, theme } = surface
  const { base, stencils, factor, shape } = picture
  const { rows, columns } = inView(view, shape)
  const source = [view.column / factor, view.row / factor, columns / factor, rows / factor] as const
  context.imageSmoothingEnabled = false
  context.clearRect(0, 0, width, height)
  context.drawImage(base, ...source, 0, 0, width, height)
  scratch.width = width
  scratch.height = height
  const pour = scratch.getContext('2d')
  if (!pour) return
  pour.imageSmoothingEnabled = false
  for (const { hatch, mask } of stencils) {
    pour.globalCompositeOperation = 'source-over'
    pour.clearRect(0, 0, width, height)
    pour.drawImage(mask, ...source, 0, 0, width, height)
    pour.globalCompositeOperation = 'source-in'
    pour.fillStyle = hatchPattern(pour, hatch, density, theme) ?? 'transparent'
    pour.fillRect(0, 0, width, height)
    context.drawImage(scratch, 0, 0)
  }
}

/** Below this many device-independent pixels a cell has no gap around it. */
const GAP_FROM = 9

/** Gaps between cells and rules between groups, in the colour of the page and of lines. */
export function drawRules(surface: Surface, boundaries: { rows: number[]; columns: number[] }) {
  const { context, view, width, height, cell, density, theme } = surface
  const at = (index: number, start: number) => Math.round((index - start) * cell)
  const horizontal = (row: number, thick: number) =>
    context.fillRect(0, at(row, view.row) - Math.floor(thick / 2), width, thick)
  const vertical = (column: number, thick: number) =>
    context.fillRect(at(column, view.column) - Math.floor(thick / 2), 0, thick, height)
  const both = (thick: number) => {
    for (const row of boundaries.rows) horizontal(row, thick)
    for (const column of boundaries.columns) vertical(column, thick)
  }
  context.fillStyle = `rgb(${PAGE[theme].join(' ')})`
  if (cell / density >= GAP_FROM) {
    const gap = Math.max(1, Math.round(density))
    for (let row = Math.ceil(view.row); row <= view.row + view.count; row++) horizontal(row, gap)
    for (let column = Math.ceil(view.column); column <= view.column + view.count; column++) vertical(column, gap)
  }
  both(Math.round((cell / density >= GAP_FROM ? 5 : 3) * density))
  context.fillStyle = theme === 'dark' ? '#59616d' : '#a6a8a4'
  both(Math.max(1, Math.round(density)))
}

/** Rows and columns whose cells have a mark in their corner: 1 where marked. */
export interface Marked {
  rows: Uint8Array
  columns: Uint8Array
}

/** Below this width, device-independent, a mark would hide the colour of a cell. */
const MARK_FROM = 12

/** Draw a triangle in the upper right corner of each cell in view whose row or column is marked. */
export function drawMarks(surface: Surface, shape: Shape, marked: Marked) {
  const { context, view, cell, density, theme } = surface
  if (cell / density < MARK_FROM) return
  const side = Math.min(cell / 3, 9 * density)
  const gap = Math.max(1, Math.round(density))
  context.beginPath()
  for (let row = Math.floor(view.row); row < Math.min(shape.rows, view.row + view.count); row++) {
    for (let column = Math.floor(view.column); column < Math.min(shape.columns, view.column + view.count); column++) {
      if (!marked.rows[row] && !marked.columns[column]) continue
      const [right, top] = [Math.round((column + 1 - view.column) * cell), Math.round((row - view.row) * cell) + gap]
      context.moveTo(right - side, top)
      context.lineTo(right, top)
      context.lineTo(right, top + side)
      context.closePath()
    }
  }
  // Ink with an edge of the page's colour: it is seen on every colour of a ramp.
  context.lineWidth = 2 * density
  context.strokeStyle = `rgb(${PAGE[theme].join(' ')})`
  context.stroke()
  context.fillStyle = `rgb(${INK[theme].join(' ')})`
  context.fill()
}

/** The colour of what is worst, in a place that no ramp of cells takes. */
const BAD: Record<Theme, Rgb> = { light: [201, 42, 42], dark: [255, 135, 135] }

/**
 * Draw a solid square in the lower left corner of some cells, however small they are; `cells` are indices of the grid,
 * ascending. Many squares of small cells are one image: as a path they would take longer than a frame.
 */
export function drawSquares(
  surface: Surface,
  scratch: HTMLCanvasElement,
  { columns }: Shape,
  cells: readonly number[],
) {
  const { context, view, width, height, cell, density, theme } = surface
  const side = Math.round(Math.max(2 * density, Math.min(cell / 2.5, 9 * density)))
  const each = (draw: (x: number, y: number) => void) => {
    const end = bisectLeft(cells, Math.ceil(view.row + view.count) * columns)
    for (let at = bisectLeft(cells, Math.floor(view.row) * columns); at < end; at++) {
      const [index, gap] = [cells[at] as number, Math.round(density)]
      const x = Math.round(((index % columns) - view.column) * cell) + gap
      const y = Math.round((Math.floor(index / columns) + 1 - view.row) * cell) - gap - side
      if (x > -side && y > -side && x < width && y < height) draw(x, y)
    }
  }
  if (cell / density >= MARK_FROM) {
    context.beginPath()
    each((x, y) => context.rect(x, y, side, side))
    context.lineWidth = 2 * density
    context.strokeStyle = `rgb(${PAGE[theme].join(' ')})`
    context.stroke()
    context.fillStyle = `rgb(${BAD[theme].join(' ')})`
    context.fill()
    return
  }
  const image = context.createImageData(width, height)
  const [pixels, ink] = [new Uint32Array(image.data.buffer), pack(BAD[theme])]
  each((x, y) => {
    for (let line = Math.max(0, y); line < Math.min(height, y + side); line++) {
      for (let at = Math.max(0, x); at < Math.min(width, x + side); at++) pixels[line * width + at] = ink
    }
  })
  scratch.getContext('2d')?.putImageData(image, 0, 0)
  context.drawImage(scratch, 0, 0)
}

/** Below this width, device-independent, a figure does not fit a cell. */
const FIGURE_FROM = 46

/** Print the value in each cell with enough room, in the ink with the better contrast. */
export function drawFigures(surface: Surface, grid: Grid, colours: ColourTable, figure: (cell: Cell) => string | null) {
  const { context, view, cell: size, density, theme } = surface
  if (size / density < FIGURE_FROM) return
  context.font = `500 ${12 * density}px "Inter Variable", system-ui, sans-serif`
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  for (let row = Math.floor(view.row); row < Math.min(grid.rows, view.row + view.count); row++) {
    for (let column = Math.floor(view.column); column < Math.min(grid.columns, view.column + view.count); column++) {
      const text = figure({ row, column })
      if (text === null || context.measureText(text).width > size - 10 * density) continue
      const index = row * grid.columns + column
      const [x, y] = [(column - view.column + 0.5) * size, (row - view.row + 0.5) * size]
      if (grid.looks[index] === LOOK.veiled) {
        // Stripes would cross the digits: draw a plate behind them.
        const [width, height] = [context.measureText(text).width + 10 * density, 20 * density]
        context.fillStyle = `rgb(${PAGE[theme].join(' ')})`
        context.fillRect(x - width / 2, y - height / 2, width, height)
        context.fillStyle = `rgb(${INK[theme].join(' ')})`
        context.fillText(text, x, y)
        continue
      }
      const table = grid.faint?.[index] ? colours.faint : colours.plain
      const packed = table[grid.codes[index] as number] as number
      // Rec. 601 luma is enough to choose between two inks.
      const luma = 0.299 * (packed & 255) + 0.587 * ((packed >> 8) & 255) + 0.114 * ((packed >> 16) & 255)
      context.fillStyle = luma > 132 ? '#0d1014' : '#ffffff'
      context.fillText(text, x, y)
    }
  }
}
