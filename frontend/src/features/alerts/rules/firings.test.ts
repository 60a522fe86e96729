import { expect, test } from 'vitest'
import { firings, firingWords } from './firings'

test('consecutive windows are one firing', () => {
  const [no, yes] = [false, true]
  expect(firings([])).toBe(0)
  expect(firings([yes, yes, no, yes, no, no, yes])).toBe(3)
})

test('the number of firings is a text', () => {
  expect([0, 1, 2, 5].map(firingWords)).toEqual([
    'The rule would not have fired.',
    'The rule would have fired once.',
    'The rule would have fired twice.',
    'The rule would have fired 5 times.',
  ])
})
