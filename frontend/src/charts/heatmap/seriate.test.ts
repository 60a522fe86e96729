import { expect, test } from 'vitest'
import { numbers } from '~/testing/random'
import { seriate } from './seriate'

const profilesOf = (rows: number[][]) => ({
  values: Float32Array.from(rows.flat()),
  count: rows.length,
  length: rows[0]?.length ?? 0,
})

test.each([0, 1, 2, 3, 7, 60])('the order of %i profiles has each of them once', (count) => {
  const random = numbers(count + 1)
  const rows = Array.from({ length: count }, () => Array.from({ length: 5 }, random))
  expect(seriate(profilesOf(rows)).sort((a, b) => a - b)).toEqual(rows.map((_, at) => at))
})

test('equal profiles do not stop it', () => {
  const order = seriate(profilesOf(Array.from({ length: 20 }, (_, at) => [at % 2, 1])))
  expect(new Set(order).size).toBe(20)
  expect(order.filter((at, place) => place > 0 && at % 2 !== (order[place - 1] as number) % 2).length).toBe(1)
})

test.each([1, 2, 3, 4, 5])('planted clusters stand together, turn %i', (turn) => {
  const random = numbers(turn)
  const clusters = Array.from({ length: 60 }, () => Math.floor(random() * 3))
  const rows = clusters.map((own) => clusters.map((other) => (own === other ? 4 : 0) + random()))
  const found = seriate(profilesOf(rows)).map((at) => clusters[at])
  // Three runs have two borders.
  expect(found.filter((cluster, place) => place > 0 && cluster !== found[place - 1]).length).toBe(2)
})

test('points on a line come in their order, or in the reverse', () => {
  const random = numbers(9)
  const places = Array.from({ length: 8 }, (_, at) => 2 ** at)
  const shuffled = [...places].sort(() => random() - 0.5)
  const found = seriate(profilesOf(shuffled.map((place) => [place]))).map((at) => shuffled[at] as number)
  expect([places, [...places].reverse()]).toContainEqual(found)
})
