import { expect, test } from 'vitest'
import { drawMarks, drawSquares, type Surface } from './picture'

/** Return a surface that keeps the right upper corner of each triangle; `view` shows `count` cells from `row`, `column`. */
function surfaceOf(cell: number, row = 0, column = 0, count = 4) {
  const corners: string[] = []
  const [size, squares] = [Math.round(count * cell), new Set<number>()]
  const image = { data: new Uint8ClampedArray(4 * size * size) }
  let right = 0
  const context = {
    beginPath() {},
    moveTo() {
      right = 0
    },
    lineTo(x: number, y: number) {
      if (right === 0) corners.push(`${x},${y}`)
      right = x
    },
    rect: (x: number, y: number) => squares.add(y * size + x),
    createImageData: () => image,
    drawImage() {},
    closePath() {},
    stroke() {},
    fill() {},
  }
  const view = { row, column, count }
  const surface = { context, view, width: size, height: size, cell, density: 1, theme: 'light' }
  const pixels = new Uint32Array(image.data.buffer)
  const squared = (x: number, y: number) => squares.has(y * size + x) || pixels[y * size + x] !== 0
  return { surface: surface as unknown as Surface, corners, squares, pixels, squared }
}

const SHAPE = { rows: 4, columns: 4 }
const MARKED = { rows: Uint8Array.of(0, 1, 0, 0), columns: Uint8Array.of(0, 0, 0, 1) }

test('each cell of a marked row or column has one mark in its upper right corner', () => {
  const { surface, corners } = surfaceOf(20)
  drawMarks(surface, SHAPE, MARKED)
  expect(corners.sort()).toEqual(['80,1', '20,21', '40,21', '60,21', '80,21', '80,41', '80,61'].sort())
})

test('only cells in view are marked', () => {
  const { surface, corners } = surfaceOf(20, 0, 1, 2)
  drawMarks(surface, SHAPE, MARKED)
  expect(corners).toEqual(['20,21', '40,21'])
})

test('cells smaller than 12 pixels have no marks', () => {
  const { surface, corners } = surfaceOf(11)
  drawMarks(surface, SHAPE, MARKED)
  expect(corners).toEqual([])
})

const SCRATCH = { getContext: () => ({ putImageData() {} }) } as unknown as HTMLCanvasElement

test('only squares in view are drawn; those of small cells are two pixels of one image', () => {
  const large = surfaceOf(20, 1, 1, 2)
  drawSquares(large.surface, SCRATCH, SHAPE, [0, 6, 15])
  expect([large.squares.size, large.squared(21, 11)]).toEqual([1, true])
  const small = surfaceOf(0.5, 500, 500, 400)
  drawSquares(small.surface, SCRATCH, { rows: 1000, columns: 1000 }, [7, 600 * 1000 + 700, 999_999])
  expect([small.squares.size, small.pixels.filter(Boolean).length, small.squared(101, 48)]).toEqual([0, 4, true])
})
