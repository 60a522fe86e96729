import { expect, test } from 'vitest'
import { requestOf, tailSearch } from './question'

test.each([
  [{ classes: 4 }, 'bytes'],
  [{ classes: 4, spread: 'packets' }, 'packets'],
  [{ classes: 4, spread: 'flows' }, 'bytes'],
] as const)('%o spreads the classes by %s', (search, spread) => {
  expect(requestOf(tailSearch(search), '').spread).toBe(spread)
})

test.each([
  [{}, 3],
  [{ limit: 0 }, 0],
  [{ limit: -1 }, null],
] as const)('%o lets the mean rise by %s %%', (search, limit) => {
  expect(requestOf(tailSearch(search), '').mean_loss_max).toBe(limit)
})
