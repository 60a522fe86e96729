import { expect, test } from 'vitest'
import { METRICS } from './dimensions'
import { facts, measure, tickLabels, title } from './metrics'

test.each([
  ['one_way_delay', 'p99', 'One-way delay, p99', 'p99'],
  ['round_trip', 'min', 'Round trip, min', 'round trip min'],
  ['loss', 'p50', 'Loss', 'loss'],
] as const)('%s %s is titled "%s" and read "%s"', (metric, statistic, titled, read) => {
  expect(title(metric, statistic)).toBe(titled)
  expect(measure(metric, statistic)).toBe(read)
})

test('ticks of one scale share a unit and carry no idle zeros', () => {
  expect(tickLabels('one_way_delay', [50_000, 100_000, 1_500_000])).toEqual({
    unit: 'ms',
    labels: ['0.05', '0.1', '1.5'],
  })
  expect(tickLabels('asymmetry', [-50_000, 0, 50_000])).toEqual({ unit: 'µs', labels: ['−50', '0', '50'] })
  // Ticks that differ have labels that differ, on every scale.
  expect(tickLabels('one_way_delay', [115_400_000, 115_600_000, 115_800_000])).toEqual({
    unit: 'ms',
    labels: ['115.4', '115.6', '115.8'],
  })
  expect(tickLabels('loss', [0, 0.0005, 0.001])).toEqual({ unit: '%', labels: ['0', '0.05', '0.1'] })
})

test('every metric has a description', () => {
  for (const metric of METRICS) expect(facts(metric).about).toMatch(/\.$/)
})
