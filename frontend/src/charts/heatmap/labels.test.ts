import { expect, test } from 'vitest'
import { numbers } from '~/testing/random'
import { shortened } from './labels'

const ZONES = ['eu-west-1a', 'eu-west-1b', 'us-east-1a', 'us-east-1b', 'sa-east-1a', 'ap-south-1a', 'ap-south-1b']

test('names that fit stay as they are', () => {
  expect(shortened(ZONES, 11)).toEqual(ZONES)
})

test('what all names begin with gives way first', () => {
  expect(shortened(['eu-west-1a', 'eu-west-1b', 'eu-west-1c'], 6)).toEqual(['…1a', '…1b', '…1c'])
  expect(shortened(['web-0001-prod', 'web-0002-prod'], 10)).toEqual(['…0001-prod', '…0002-prod'])
})

test('names are cut where they do not differ', () => {
  expect(shortened(['web-0001-prod', 'db-0001-prod'], 9)).toEqual(['web-…prod', 'db-0…prod'])
  expect(shortened(['a-web-0001', 'b-web-0002', 'a-web-0001'], 5)).toEqual(['a-…01', 'b-…02', 'a-…01'])
})

test('without room for a difference there is no name', () => {
  expect(shortened(ZONES, 2)).toBeNull()
  expect(
    shortened(['aXbbbbbbbbc', 'aYbbbbbbbbc', 'abbbbXbbbbc', 'abbbbYbbbbc', 'abbbbbbbbXc', 'abbbbbbbbYc'], 4),
  ).toBeNull()
})

test('no two names look the same after shortening, whatever they are', () => {
  const random = numbers(7)
  const one = (values: readonly string[]) => values[Math.floor(random() * values.length)] as string
  let shown = 0
  for (let turn = 0; turn < 400; turn++) {
    const names = new Set<string>()
    const length = 2 + Math.floor(random() * 30)
    while (names.size < length) {
      const region = `${one(['eu', 'us', 'sa', 'ap'])}-${one(['west', 'east', 'central'])}-${1 + Math.floor(random() * 3)}`
      names.add(
        one([region + one(['a', 'b', 'c']), `${one(['web', 'db', 'cache'])}-${String(names.size).padStart(4, '0')}`]),
      )
    }
    const most = 3 + Math.floor(random() * 12)
    const short = shortened([...names], most)
    if (!short) continue
    shown += 1
    expect(new Set(short).size).toBe(names.size)
    for (const name of short) expect(name.length).toBeLessThanOrEqual(most)
  }
  expect(shown).toBeGreaterThan(150)
})
