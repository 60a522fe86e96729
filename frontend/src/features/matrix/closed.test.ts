import { expect, test } from 'vitest'
import { closedZones, toggled } from './closed'

const ZONES = ['a', 'b', 'c', 'd']
const closed = (text: string | undefined) => ZONES.filter(closedZones(text))

test.each([
  [undefined, []],
  ['b', ['b']],
  ['b,d', ['b', 'd']],
  ['all', ZONES],
  ['all,c', ['a', 'b', 'd']],
])('the address %s closes %j', (text, expected) => {
  expect(closed(text)).toEqual(expected)
})

test('every choice of zones is kept in the address, and no longer than half of them', () => {
  for (let choice = 0; choice < 16; choice++) {
    let text = ''
    const chosen = ZONES.filter((_, at) => choice & (1 << at))
    for (const zone of chosen) text = toggled(text || undefined, ZONES, [zone])
    expect(closed(text || undefined)).toEqual(chosen)
    expect(text.split(',').length).toBeLessThanOrEqual(3)
  }
})

test('a heading over several zones closes them all when all are open, otherwise it opens them', () => {
  expect(toggled(undefined, ZONES, ['a', 'b'])).toBe('a,b')
  expect(toggled('a', ZONES, ['a', 'b'])).toBe('')
  expect(toggled('all', ZONES, ['a', 'b'])).toBe('c,d')
})
