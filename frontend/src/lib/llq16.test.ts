import { expect, test } from 'vitest'
import golden from '../../../agent/native/vectors.json'
import { BINS, binOf, delayOf } from './llq16'

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
