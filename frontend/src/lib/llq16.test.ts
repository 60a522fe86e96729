import { expect, test } from 'vitest'
import golden from '../../../agent/native/vectors.json'
import { BINS, binOf, delayOf } from './llq16'

test.each([
  [0, 0],
  [127, 127],
  [128, 128],
  [129, 128],
  [130, 129],
  [255, 191],
  [256, 192],
  [1000, 317],
  [45_000, 663],
  [1e6, 954],
  [1e9, 1591],
  [2 ** 40, 2047],
  [-5, 0],
])('bin(%d) = %d', (delay, bin) => {
  expect(binOf(delay)).toBe(bin)
})

test('bins and their values are those of the golden table of the native crate', () => {
  for (const { value_ns, bin, stands_for_ns } of golden.bins) {
    expect([value_ns, binOf(value_ns), delayOf(bin)]).toEqual([value_ns, bin, stands_for_ns])
  }
  expect(golden.bins.length).toBeGreaterThan(100)
})

test('every bin contains its value', () => {
  for (let bin = 0; bin < BINS; bin++) expect(binOf(delayOf(bin))).toBe(bin)
})

test('a value is kept to one part in 128', () => {
  for (let v = 1; v < 1e11; v = Math.ceil(v * 1.003)) {
    expect(Math.abs(delayOf(binOf(v)) - v) / v).toBeLessThanOrEqual(1 / 128)
  }
})

test('bins grow with the delay, also next to powers of two', () => {
  for (let p = 7; p < 37; p++) {
    expect(binOf(2 ** p - 1)).toBeLessThan(binOf(2 ** p))
    expect(binOf(2 ** p)).toBe(64 * (p - 5))
  }
})
