import { expect, test } from 'vitest'
import { compared } from './search'

test('curves are compared once each, as many as can be distinguished', () => {
  expect(compared('dns,apache,dns,,<b>')).toEqual(['dns', 'apache'])
  expect(compared('a,b,c,d,e,f,g')).toHaveLength(6)
})
