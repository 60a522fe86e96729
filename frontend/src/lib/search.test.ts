import { expect, test } from 'vitest'
import {
  appSearch,
  compared,
  curveSearch,
  curvesSearch,
  matrixSearch,
  numbers,
  pathSearch,
  signInSearch,
} from './search'

test('nonsense in the address is dropped, not passed on', () => {
  expect(matrixSearch({ metric: 'speed', statistic: 3, by: ['vm'], view: 'a,b,c', cell: '1,-2', x: 1 })).toEqual({})
  expect(pathSearch({ last: '90y', statistic: 'p100' })).toEqual({})
  expect(appSearch({ tz: 'Mars' })).toEqual({})
})

test('what was chosen survives, the default is left out', () => {
  expect(matrixSearch({ metric: 'loss', statistic: 'p50', by: 'zone', view: '0,6,12', cell: '3,4' })).toEqual({
    metric: 'loss',
    by: 'zone',
    view: '0,6,12',
    cell: '3,4',
  })
  expect(pathSearch({ last: '6h', statistic: 'p99' })).toEqual({ last: '6h', statistic: 'p99' })
  expect(appSearch({ tz: 'utc' })).toEqual({ tz: 'utc' })
})

test('parsing twice is parsing once', () => {
  const once = matrixSearch({ metric: 'asymmetry', statistic: 'max', scale: '-5000,5000' })
  expect(matrixSearch({ ...once })).toEqual(once)
})

test('a scale needs a lower and a higher end', () => {
  expect(matrixSearch({ scale: '5000,1000' })).toEqual({})
  expect(matrixSearch({ scale: '1000,5000' })).toEqual({ scale: '1000,5000' })
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

test.each([
  ['1,2', [1, 2]],
  ['1,', undefined],
  ['1,2,3', undefined],
  [7, undefined],
])('%s as two numbers is %s', (text, parsed) => {
  expect(numbers(text, 2)).toEqual(parsed)
})

test('curves are compared once each, as many as can be told apart', () => {
  expect(compared('dns,apache,dns,,<b>')).toEqual(['dns', 'apache'])
  expect(compared('a,b,c,d,e,f,g')).toHaveLength(6)
  expect(curvesSearch({ compare: ',', added: '40' })).toEqual({ added: 40 })
})

test('a curve is read at what can be read', () => {
  expect(curveSearch({ number: 2, added: '150', by: 'vm', mesh: 'a-1', source: 'no id' })).toEqual({
    number: 2,
    added: 150,
    mesh: 'a-1',
  })
  expect(curveSearch({ number: 0.5, added: -1, by: 'zone' })).toEqual({ by: 'zone' })
})
