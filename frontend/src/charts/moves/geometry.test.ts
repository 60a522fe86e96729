import { describe, expect, test } from 'vitest'
import { arcPath, type Place, runs, strip } from './geometry'

const place = (name: string, group: string): Place => ({ key: name, name, group, share: 0.5, filled: false })

describe('strip', () => {
  test('neighbours of a group are one run', () => {
    const places = [place('a', 'x'), place('b', 'x'), place('c', 'y'), place('d', 'x')]
    expect(runs(places)).toEqual([
      { name: 'x', first: 0, count: 2 },
      { name: 'y', first: 2, count: 1 },
      { name: 'x', first: 3, count: 1 },
    ])
  })

  test('many places get smaller cells, never invisible ones', () => {
    const many = Array.from({ length: 500 }, (_, at) => place(String(at), 'x'))
    expect(strip(many.slice(0, 4), []).cell).toBe(34)
    expect(strip(many.slice(0, 100), []).cell).toBe(9)
    expect(strip(many, []).cell).toBe(6)
  })

  test('there is room above for the highest bow', () => {
    const places = [place('a', 'x'), place('b', 'x'), place('c', 'x')]
    const { top } = strip(places, [{ from: 0, to: 2, faint: false }])
    expect(top).toBeGreaterThan(18)
    const peak = Math.min(
      ...(arcPath(17, 85, top).match(/-?[\d.]+/g) ?? []).map(Number).filter((_, at) => at % 2 === 1),
    )
    expect(peak).toBeGreaterThanOrEqual(-top / 3)
  })
})
