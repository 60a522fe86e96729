import { expect, test } from 'vitest'
import { pathSearch } from './search'

test('invalid values are dropped, chosen ones kept', () => {
  expect(pathSearch({ last: '90y', statistic: 'p100' })).toEqual({})
  expect(pathSearch({ last: '6h', statistic: 'p99' })).toEqual({ last: '6h', statistic: 'p99' })
})
