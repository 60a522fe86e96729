import { expect, test } from 'vitest'
import type { Line } from './axes'
import { byName } from './order'

test('names are in the order of their numbers', () => {
  const lines = ['web-10', 'db-1', 'web-2'].map((name) => ({ name }) as Line)
  expect(byName(lines)).toEqual([1, 2, 0])
})
