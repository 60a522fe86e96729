import { expect, test } from 'vitest'
import { codeCount, codeOfValue, leastCode, valueOfCode } from './codes'
import { MATRIX_METRICS } from './dimensions'

test.each(MATRIX_METRICS)('code 0 of %s is no value, not zero', (metric) => {
  expect(valueOfCode(metric, 0)).toBeNull()
})

test.each([
  ['one_way_delay', 664, 44_800],
  ['one_way_delay', 1, 0],
  ['clock_error', 128, 127],
  ['round_trip', 955, 1_003_520],
  ['loss', 1, 0],
  ['loss', 10_001, 1],
  ['loss', 26, 0.0025],
  ['asymmetry', 32_768, 0],
  ['asymmetry', 32_768 + 317, 1_004],
  ['asymmetry', 32_768 - 317, -1_004],
] as const)('%s code %d stands for %d', (metric, code, value) => {
  expect(valueOfCode(metric, code)).toBe(value)
})

test.each(MATRIX_METRICS)('every code of %s comes back from its value', (metric) => {
  for (let code = leastCode(metric); code < codeCount(metric); code++) {
    expect(codeOfValue(metric, valueOfCode(metric, code) as number)).toBe(code)
  }
})
