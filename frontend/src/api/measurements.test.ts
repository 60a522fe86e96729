import { expect, test } from 'vitest'
import { valueOfCode } from '~/lib/codes'
import { lossCodes } from './measurements'

test('round trips become the performance that is lost; without a value they stay so', () => {
  const codes = lossCodes(Uint16Array.from([0, 1, 2, 3, 3]), [1, 0.82, 0.5])
  expect([...codes].map((code) => valueOfCode('predicted_loss', code))).toEqual([null, 0, 0.18, 0.5, 0.5])
})
