import { expect, test } from 'vitest'
import { matcherWords } from './matcherWords'

test('a matcher is read as a sentence', () => {
  expect(matcherWords({ label: 'zone', value: 'eu-*', negate: true })).toBe('zone is not eu-*')
  expect(matcherWords({ label: 'mesh', value: 'prod', negate: false })).toBe('mesh is prod')
})
