import { expect, test } from 'vitest'
import { appSearch, numbers } from './searchParams'

test('the time zone is one of two, local by default', () => {
  expect(appSearch({ tz: 'Mars' })).toEqual({})
  expect(appSearch({ tz: 'local' })).toEqual({})
  expect(appSearch({ tz: 'utc' })).toEqual({ tz: 'utc' })
})

test.each([
  ['1,2', [1, 2]],
  ['1,', undefined],
  ['1,2,3', undefined],
  [7, undefined],
])('%s as two numbers is %s', (text, parsed) => {
  expect(numbers(text, 2)).toEqual(parsed)
})
