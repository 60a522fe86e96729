import { expect, test } from 'vitest'
import { usualLine, usualValues } from './usual'

// 23:59:50, 00:00:00 and 00:00:10 UTC.
const TIMES = [-10, 0, 10].map((seconds) => Date.UTC(2026, 10, 21) / 1_000 + seconds)
const USUAL = { baseline_ns: 80_000, dead_band_ns: 5_000, basis: 'last_day' as const }

test('what the last day was like holds for the whole chart', () => {
  expect(usualValues(USUAL, TIMES, TIMES[2] as number)).toEqual([80_000, 80_000, 80_000])
})

test('what this hour is usually like says nothing about the hour before', () => {
  const usual = { ...USUAL, basis: 'same_hour' as const }
  expect(usualValues(usual, TIMES, TIMES[2] as number)).toEqual([null, 80_000, 80_000])
  const [line] = usualLine(usual, { label: 'Usual', colour: 'red' }, TIMES)
  expect(line).toMatchObject({ values: [null, 80_000, 80_000], error: [null, 5_000, 5_000] })
})

test('nothing is drawn without a usual value', () => {
  expect(usualLine({ ...USUAL, baseline_ns: null }, { label: 'Usual', colour: 'red' }, TIMES)).toEqual([])
  expect(usualLine(undefined, { label: 'Usual', colour: 'red' }, TIMES)).toEqual([])
  expect(usualLine(USUAL, { label: 'Usual', colour: 'red' }, [])).toEqual([])
})
