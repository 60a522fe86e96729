import { expect, test } from 'vitest'
import { shortened } from './labels'

const ZONES = ['eu-west-1a', 'eu-west-1b', 'us-east-1a', 'us-east-1b', 'sa-east-1a', 'ap-south-1a', 'ap-south-1b']

test('names that fit stay as they are', () => {
  expect(shortened(ZONES, 11)).toEqual(ZONES)
})

test('what all names begin with gives way first', () => {
  expect(shortened(['eu-west-1a', 'eu-west-1b', 'eu-west-1c'], 6)).toEqual(['…1a', '…1b', '…1c'])
  expect(shortened(['web-0001-prod', 'web-0002-prod'], 10)).toEqual(['…0001-prod', '…0002-prod'])
})

test.each([10, 9, 8, 7, 6, 5])('names cut to %d characters stay different and keep beginning or end', (most) => {
  const short = shortened(ZONES, most)
  expect(new Set(short).size).toBe(ZONES.length)
  for (const name of short ?? []) expect(name.length).toBeLessThanOrEqual(most)
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
