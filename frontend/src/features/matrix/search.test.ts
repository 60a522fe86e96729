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
  const once = matrixSearch({ metric: 'asymmetry', statistic: 'max', scale: '-5000,5000' })
  expect(matrixSearch({ ...once })).toEqual(once)
})

test('a scale needs a lower and a higher end', () => {
  expect(matrixSearch({ scale: '5000,1000' })).toEqual({})
  expect(matrixSearch({ scale: '1000,5000' })).toEqual({ scale: '1000,5000' })
})

test('a switch is kept only when it is on', () => {
  expect(matrixSearch({ percent: false })).toEqual({})
  expect(matrixSearch({ percent: true })).toEqual({ percent: true })
})

test.each([
  [{}, 'deviation'],
  [{ metric: 'one_way_delay' }, 'one_way_delay'],
  [{ span: '1h' }, 'deviation'],
  [{ from: '2026-11-20T10:00:00Z', until: '2026-11-20T11:00:00Z' }, 'deviation'],
  [{ metric: 'predicted_loss' }, 'deviation'],
  [{ metric: 'predicted_loss', app: 'a' }, 'predicted_loss'],
  [{ metric: 'predicted_loss', app: 'a', span: '6h', versus: 'day' }, 'one_way_delay'],
  [{ span: '6h' }, 'deviation'],
  [{ span: '6h', metric: 'deviation' }, 'deviation'],
  [{ span: '1h', metric: 'deviation', versus: 'before' }, 'one_way_delay'],
] as const)('the address %j shows %s', (search, metric) => {
  expect(shownOf(search).metric).toBe(metric)
})
