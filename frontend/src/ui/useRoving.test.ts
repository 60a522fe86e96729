import { expect, test } from 'vitest'
import { nextLink } from './useRoving'

// x is no link:
//   0 1 2
//   3 x 5
//   6 7 8
const IS_LINK = [true, true, true, true, false, true, true, true, true]

test.each([
  [0, 'ArrowRight', 1],
  [2, 'ArrowRight', undefined],
  [3, 'ArrowLeft', undefined],
  [3, 'ArrowRight', 5],
  [1, 'ArrowDown', 7],
  [7, 'ArrowUp', 1],
  [8, 'ArrowDown', undefined],
  [0, 'ArrowUp', undefined],
  [0, 'Enter', undefined],
])('from %i, %s moves to %s', (index, key, next) => {
  expect(nextLink(IS_LINK, 3, index, key)).toBe(next)
})
