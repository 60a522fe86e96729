import { expect, test } from 'vitest'
import { forecastWords, needsAttention } from './tokenBuckets'

const forecast = { use_mbit: 120, level: 'draining', tokens_kb: 100_000, empty_in_s: 40, full_in_s: null } as const

test('a forecast says when the bucket is empty, or full', () => {
  expect(forecastWords(forecast)).toBe('Draining. Empty in 40 s at this rate')
  expect(forecastWords({ ...forecast, level: 'filling', empty_in_s: null, full_in_s: 750 })).toBe(
    'Filling. Full in 13 min at this rate',
  )
  expect(forecastWords({ ...forecast, level: 'empty', empty_in_s: 0 })).toBe('Empty: traffic is held to the rate')
  expect(forecastWords({ ...forecast, level: 'full', empty_in_s: null, full_in_s: 0 })).toBe('Full')
})

test('a bucket asks for attention when it is empty or soon will be', () => {
  const at = (empty_in_s: number | null) => needsAttention({ ...forecast, empty_in_s })
  expect([at(0), at(600), at(601), at(null)]).toEqual([true, true, false, false])
})
