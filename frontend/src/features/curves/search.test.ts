import { expect, test } from 'vitest'
import { compared, curveSearch, curvesSearch } from './search'

test('curves are compared once each, as many as can be distinguished', () => {
  expect(compared('dns,apache,dns,,<b>')).toEqual(['dns', 'apache'])
  expect(compared('a,b,c,d,e,f,g')).toHaveLength(6)
  expect(curvesSearch({ compare: ',', added: '40' })).toEqual({ added: 40 })
})

test('a curve is read at valid latencies and versions only', () => {
  expect(curveSearch({ number: 2, added: '150', by: 'vm', mesh: 'a-1', source: 'no id' })).toEqual({
    number: 2,
    added: 150,
    mesh: 'a-1',
  })
  expect(curveSearch({ number: 0.5, added: -1, by: 'zone' })).toEqual({ by: 'zone' })
})
