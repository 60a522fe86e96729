import { expect, test } from 'vitest'
import { quoted } from './shell'

test.each([
  ['eu-west-1a', 'eu-west-1a'],
  ['rack 7', `'rack 7'`],
  ['$(reboot)', `'$(reboot)'`],
  [`it's`, `'it'\\''s'`],
])('%s is written %s, so that a shell takes it as it is', (word, written) => {
  expect(quoted(word)).toBe(written)
})
