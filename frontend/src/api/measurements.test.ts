import { expect, test } from 'vitest'
import { valueOfCode } from '~/lib/codes'
import { lossCodes, shownOf } from './measurements'

test('round trips become the performance that is lost; without a value they stay so', () => {
  const codes = lossCodes(Uint16Array.from([0, 1, 2, 3, 3]), [1, 0.82, 0.5])
  expect([...codes].map((code) => valueOfCode('predicted_loss', code))).toEqual([null, 0, 0.18, 0.5, 0.5])
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
