// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are code

import { expect, test } from 'vitest'
import { unbroken } from './units'

const KEPT = [
  ['`${(share * 100).toFixed(1)} % lost`', '`${(share * 100).toFixed(1)}~% lost`'],
  ['`± ${threeDigits(size)} ${unit}`', '`±~${threeDigits(size)}~${unit}`'],
  ["'Waits of 200 ms, last 30 days'", "'Waits of 200~ms, last 30~days'"],
  ['`One point every ${seconds} s.`', '`One point every ${seconds}~s.`'],
  ['`${time} ${zoneName(clock, at)}`', '`${time}~${zoneName(clock, at)}`'],
]

test.each(KEPT)('%s keeps each number with its unit', (code, kept) => {
  expect(unbroken(code)).toBe(kept.replaceAll('~', '\u00a0'))
})

test.each(['<Field min={0} max={1} />', '`${count} samples of 12 mice`', "import { a } from 'x'", '`${x} ${y} h${w}`'])(
  '%s has no unit',
  (code) => expect(unbroken(code)).toBe(code),
)
