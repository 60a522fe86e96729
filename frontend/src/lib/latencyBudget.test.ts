import { expect, test } from 'vitest'
import { budget, parts, share } from '~/testing/budgets'
import { budgetSentences, segmentsOf, sumOf } from './latencyBudget'

test('the sentence names the total, the lowest delay and queueing', () => {
  expect(budgetSentences(budget([share('base', 180)], 132, 720))).toEqual([
    'Of the 312 µs at the median, 180 µs is the lowest delay in this range (propagation, hosts, hypervisors and switches, which cannot be separated without a distance), and 132 µs is queueing and scheduling.',
    'At p99, 900 µs, 720 µs is queueing and scheduling.',
  ])
})

test('with a distance it names propagation, and of several paths it says that figures are medians', () => {
  const [first, , error] = budgetSentences(
    budget([share('propagation', 49), share('processing', 131)], 132, 720, { paths: 29, clock_error_ns: 4_000 }),
  )
  expect(first).toMatch(/\(at least 49\.0 µs propagation in fibre, and up to 131 µs hosts, hypervisors and switches\)/)
  expect(first).toMatch(/Each figure is the median over 29 paths\.$/)
  expect(error).toMatch(/^The clock error, ± 4\.00 µs,/)
})

test('a lowest delay below zero is the clock, not the network', () => {
  const sentences = budgetSentences(budget([share('base', -20)], 50, 90, { clock_error_ns: 60_000 }))
  expect(sentences[0]).toMatch(/^The lowest delay in this range is below zero \(−20\.0 µs\)/)
  expect(sentences).toHaveLength(2)
})

test('segments follow one another on an axis from zero; a share below zero has no length', () => {
  const shares = parts(share('propagation', 50), share('processing', 150), share('queueing', 200))
  expect(segmentsOf(shares, 800_000)).toEqual([
    { cause: 'propagation', start: 0, length: 0.0625 },
    { cause: 'processing', start: 0.0625, length: 0.1875 },
    { cause: 'queueing', start: 0.25, length: 0.25 },
  ])
  expect(segmentsOf(parts(share('base', -20), share('queueing', 50)), 100_000)).toEqual([
    { cause: 'base', start: 0, length: 0 },
    { cause: 'queueing', start: 0, length: 0.5 },
  ])
})

test('the reference adds up from the least to the most', () => {
  const part = { component: 'nic' as const, source: 's' }
  expect(
    sumOf([
      { ...part, low_ns: 1, high_ns: 20 },
      { ...part, low_ns: 3, high_ns: 50 },
    ]),
  ).toEqual([4, 70])
})
