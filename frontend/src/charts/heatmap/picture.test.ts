import { expect, test } from 'vitest'
import { drawMarks, type Surface } from './picture'

/** Return a surface that keeps the right upper corner of each triangle; `view` shows `count` cells from `row`, `column`. */
function surfaceOf(cell: number, row = 0, column = 0, count = 4) {
  const corners: string[] = []
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
    closePath() {},
    stroke() {},
    fill() {},
  }
  const view = { row, column, count }
  const surface = { context, view, width: count * cell, height: count * cell, cell, density: 1, theme: 'light' }
  return { surface: surface as unknown as Surface, corners }
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
