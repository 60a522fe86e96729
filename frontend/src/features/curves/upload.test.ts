import { expect, test } from 'vitest'
import { extent, lineErrors, lineOf, rowsOf } from './upload'

const TABLE = '# night run\nadded_us,rate\n0,990000\n\n50,fast\n100,790000\n'

test.each([
  ['#/header', 2],
  ['#/rows/0/latency_us', 3],
  ['#/rows/1/performance', 5],
  ['#/rows/2', 6],
  ['#/rows/9/performance', null],
  ['#/baseline', null],
  ['#', null],
])('%s stands on line %s', (pointer, line) => {
  expect(lineOf(TABLE, pointer)).toBe(line)
})

test('rows are counted without header, comments and empty lines', () => {
  expect(rowsOf(TABLE)).toBe(3)
  expect(rowsOf('')).toBe(0)
  expect(rowsOf('[{"latency_us": 1}]')).toBe(0)
})

test('JSON has no lines to point to', () => {
  expect(lineOf('{"rows": []}', '#/rows/0')).toBeNull()
})

test('a message does not repeat its line', () => {
  expect(
    lineErrors(TABLE, [
      { pointer: '#/rows/1/performance', message: "line 5, rate: 'fast' is not a number" },
      { pointer: '#/rows/0/latency_us', message: 'line 3: must be 0 or more' },
      { pointer: '#/rows', message: 'at least 3' },
    ]),
  ).toEqual([
    { line: 5, message: "rate: 'fast' is not a number" },
    { line: 3, message: 'must be 0 or more' },
    { line: null, message: 'at least 3' },
  ])
})

test('a line can be selected', () => {
  const [start, end] = extent(TABLE, 5)
  expect(TABLE.slice(start, end)).toBe('50,fast')
  expect(extent(TABLE, 99)).toEqual([0, 0])
})
