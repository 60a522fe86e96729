import { expect, test } from 'vitest'
import { parseMatrix, STATES } from './matrix'

/** A 2×2 matrix written out by hand: revision 7, window end 2026-11-20T23:10:30Z. */
const HEX = [
  '534e4d31', // SNM1
  '02000000 02000000 07000000',
  'f060ab35 9e010000',
  '0000 9802 9702 0000', // 0, 664, 663, 0
  '01 00 03 04',
].join('')

function bytes(hex: string): ArrayBuffer {
  return Uint8Array.from(hex.replaceAll(' ', '').match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)).buffer
}

test('a matrix is read by offset', () => {
  const matrix = parseMatrix(bytes(HEX))
  expect([matrix.rows, matrix.columns, matrix.revision]).toEqual([2, 2, 7])
  expect(matrix.windowEnd?.getTime()).toBe(0x019e_35ab_60f0)
  expect([...matrix.codes]).toEqual([0, 664, 663, 0])
  expect([...matrix.states].map((state) => STATES[state])).toEqual(['not_planned', 'measured', 'stale', 'lost'])
})

test('an empty mesh is an empty matrix, without a window', () => {
  const matrix = parseMatrix(bytes(`534e4d31${'00'.repeat(20)}`))
  expect([matrix.rows, matrix.codes.length, matrix.windowEnd]).toEqual([0, 0, null])
})

test.each([
  ['', 'at least 24 bytes'],
  [HEX.replace('534e4d31', '534e4d32'), 'not a matrix'],
  [HEX.slice(0, -2), '36 bytes, not 35'],
  [`${HEX}00`, '36 bytes, not 37'],
])('bytes that are no matrix are refused with a reason', (hex, reason) => {
  expect(() => parseMatrix(bytes(hex))).toThrow(reason)
})
