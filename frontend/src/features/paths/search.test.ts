import { expect, test } from 'vitest'
import { pathSearch } from './search'

test('invalid values are dropped, chosen ones kept', () => {
  expect(pathSearch({ statistic: 'p100' })).toEqual({})
  expect(pathSearch({ statistic: 'p99' })).toEqual({ statistic: 'p99' })
  expect(pathSearch({ tab: 'history', spike: 'x' })).toEqual({})
  expect(pathSearch({ tab: 'symmetry', spike: '1-2-3' })).toEqual({ tab: 'symmetry', spike: '1-2-3' })
})
