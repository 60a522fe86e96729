import { expect, test } from 'vitest'
import { STATES } from '~/api/matrix'
import { LOOK, type Look } from '~/charts/heatmap/grid'
import { sentence, stateName } from './states'

test('each state of the wire has its own look and its own word', () => {
  expect(STATES.map((_, number) => stateName(number as Look))).toEqual([
    'Measured',
    'Not planned',
    'No data yet',
    'Stale',
    'Lost',
    'No usual value yet',
    'Earlier window',
    'Estimated',
    'No service',
  ])
})

test.each([
  [LOOK.plain, '84.2 µs', 'a-1 to b-2, p50 84.2 µs'],
  [LOOK.veiled, '84.2 µs', 'a-1 to b-2, p50 84.2 µs, stale'],
  [LOOK.flecked, '84.2 µs', 'a-1 to b-2, p50 84.2 µs, from an earlier window'],
  [LOOK.barred, '84.2 µs', 'a-1 to b-2, p50 84.2 µs, estimated'],
  [LOOK.dotted, null, 'a-1 to b-2, not planned'],
  [LOOK.lined, null, 'a-1 to b-2, no data yet'],
  [LOOK.crossed, null, 'a-1 to b-2, lost'],
  [LOOK.ringed, null, 'a-1 to b-2, no service'],
  [LOOK.plain, null, 'a-1 to b-2, no value'],
] as const)('a cell that looks %d with %s reads "%s"', (look, value, read) => {
  expect(sentence('a-1', 'b-2', look, value, 'p50')).toBe(read)
})
