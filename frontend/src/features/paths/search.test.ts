import { expect, test } from 'vitest'
import { pathSearch } from './search'

test('invalid values are dropped, chosen ones kept', () => {
  expect(pathSearch({ statistic: 'p100' })).toEqual({})
  expect(pathSearch({ statistic: 'p99' })).toEqual({ statistic: 'p99' })
})
