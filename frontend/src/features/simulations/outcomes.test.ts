import { expect, test } from 'vitest'
import type { PolicyOutcome } from '~/api/types'
import {
  best,
  decade,
  decades,
  distributionOf,
  formatHours,
  formatSeconds,
  formatTail,
  lowestScore,
  measuresOf,
} from './outcomes'

test('the best policy has the largest area', () => {
  const areas = [47.2, 89.6, 60.2].map((area_percent, at) => ({ policy: String(at), area_percent }))
  expect(best(areas)?.policy).toBe('1')
  expect(best([])).toBeUndefined()
})

test('a distribution goes from no job to all of them', () => {
  expect(distributionOf([0.2, 0.5, 1])).toEqual({ x: [0.2, 0.5, 1], y: [0, 0.5, 1] })
  expect(distributionOf([])).toEqual({ x: [], y: [] })
})

test('only measures with values can be chosen', () => {
  const none = { solver_s: [], round_s: [], moved_share: [], placement_latency_s: [], response_s: [] }
  const outcome = { scores: [0.2, 1], distributions: { ...none, response_s: [16, 900] } } as unknown as PolicyOutcome
  expect(measuresOf([outcome])).toEqual(['scores', 'response_s'])
  expect(measuresOf([{ ...outcome, distributions: null }])).toEqual(['scores'])
})

test('times lie within whole decades of seconds', () => {
  expect(decades([0, 0.003, 40])).toEqual([-3, 2])
  expect(decades([0.01, 0.01])).toEqual([-2, -1])
  expect(decades([0])).toEqual([-4, 0])
  expect([decade(0), decade(10)]).toEqual([-4, 1])
})

test('the scale begins at the tenth below the worst job', () => {
  expect(lowestScore([{ scores: [0.37, 1] }, { scores: [0.62, 1] }, { scores: [] }])).toBe(0.3)
  expect(lowestScore([{ scores: [1, 1] }])).toBe(0.9)
  expect(lowestScore([{ scores: [0, 1] }])).toBe(0)
})

test('seconds have the scale they need', () => {
  expect([0.0021, 1.5, 600, 4812, 70_200].map(formatSeconds)).toEqual([
    '2.10 ms',
    '1.50 s',
    '10.0 min',
    '80.2 min',
    '19.5 h',
  ])
  expect(formatHours(720)).toBe('0.2 h')
  expect(formatTail({ p50: 0.003, p90: 0.1, p99: 0.2 })).toBe('3.00 ms, 200 ms')
  expect(formatTail(null)).toBe('–')
})
