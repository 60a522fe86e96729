import { expect, test } from 'vitest'
import { lineStyle } from './lineStyle'

test('as many lines as one chart can have differ by colour or by dashes', () => {
  const styles = Array.from({ length: 36 }, (_, n) => JSON.stringify(lineStyle(n)))
  expect(new Set(styles).size).toBe(36)
  expect(lineStyle(0)).toEqual({ colour: 'var(--line-1)' })
})
