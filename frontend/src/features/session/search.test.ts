import { expect, test } from 'vitest'
import { signInSearch } from './search'

test('the answer of a provider is a reason or second factors', () => {
  expect(signInSearch({ failed: 'provider_no_role', factors: 'totp,recovery_code' })).toEqual({
    failed: 'provider_no_role',
    factors: ['totp', 'recovery_code'],
  })
  expect(signInSearch({ failed: '<b>', factors: 'nonsense' })).toEqual({})
})

test.each([
  ['/meshes/7?by=zone', '/meshes/7?by=zone'],
  ['//evil.example', undefined],
  ['/\\evil.example', undefined],
  ['https://evil.example', undefined],
  ['javascript:alert(1)', undefined],
])('after signing in, %s leads to %s', (next, followed) => {
  expect(signInSearch({ next }).next).toBe(followed)
})
