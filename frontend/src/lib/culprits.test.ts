import { expect, test } from 'vitest'
import { coversPath, coversVm } from './culprits'

const [A, B] = [
  { id: 'a', zoneId: 'x' },
  { id: 'b', zoneId: 'y' },
]
const culprit = (suspect: string, at?: string, other?: string) => ({
  suspect,
  at: at ? { id: at } : null,
  other: other ? { id: other } : null,
})

test.each([
  // Suspect, at, other; of the path a → b; of its reverse; of the VM a.
  ['egress', 'a', undefined, true, false, true],
  ['ingress', 'a', undefined, false, true, true],
  ['clock', 'b', undefined, true, true, false],
  ['path', 'a', 'b', true, false, true],
  ['pair', 'b', 'a', true, true, true],
  ['zone', 'y', undefined, true, true, false],
  ['zone_pair', 'x', 'y', true, false, true],
  ['zone_pair', 'x', 'x', false, false, true],
  ['mesh', undefined, undefined, true, true, true],
  ['application', undefined, undefined, false, false, false],
])('%s of %s and %s', (suspect, at, other, path, reverse, vm) => {
  const one = culprit(suspect, at, other)
  expect([coversPath(one, A, B), coversPath(one, B, A), coversVm(one, A)]).toEqual([path, reverse, vm])
})
