import { expect, test } from 'vitest'
import { shownOf } from '~/api/measurements'
import { matrixSearch } from './search'

test('invalid values in the address are dropped', () => {
  expect(matrixSearch({ metric: 'speed', statistic: 3, by: ['vm'], view: 'a,b,c', cell: '1,-2', x: 1 })).toEqual({})
})

test('chosen values are kept, defaults are left out', () => {
  expect(matrixSearch({ metric: 'loss', statistic: 'p50', by: 'zone', view: '0,6,12', cell: '3,4' })).toEqual({
    metric: 'loss',
    by: 'zone',
    view: '0,6,12',
    cell: '3,4',
  })
})

test('parsing twice is parsing once', () => {
  const once = matrixSearch({ metric: 'asymmetry', statistic: 'max', scale: '-5000,5000', until: '2026-01-01' })
  expect(matrixSearch({ ...once })).toEqual(once)
})

test('a scale needs a lower and a higher end', () => {
  expect(matrixSearch({ scale: '5000,1000' })).toEqual({})
  expect(matrixSearch({ scale: '1000,5000' })).toEqual({ scale: '1000,5000' })
})

test('a time is kept as RFC 3339, a switch only when it is on', () => {
  expect(matrixSearch({ until: '2026-01-01', percent: false })).toEqual({ until: '2026-01-01T00:00:00.000Z' })
  expect(matrixSearch({ until: 'soon', percent: true })).toEqual({ percent: true })
})

test.each([
  [{}, 'deviation'],
  [{ metric: 'one_way_delay' }, 'one_way_delay'],
  [{ span: '1h' }, 'one_way_delay'],
  [{ span: '1h', metric: 'deviation' }, 'deviation'],
  [{ span: '1h', metric: 'deviation', versus: 'before' }, 'one_way_delay'],
] as const)('the address %j shows %s', (search, metric) => {
  expect(shownOf(matrixSearch(search)).metric).toBe(metric)
})
