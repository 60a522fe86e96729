import { expect, test } from 'vitest'
import { labelLines, labelsIn, wrongLabel } from './labels'

test('labels are lines by name, and lines are labels', () => {
  expect(labelLines({ rack: 'r1', env: 'a=b' })).toBe('env=a=b\nrack=r1')
  expect(labelsIn(' rack = r1 \n\nenv=a=b\nempty=')).toEqual({ rack: 'r1', env: 'a=b', empty: '' })
  expect(labelsIn('')).toEqual({})
})

test.each([
  ['rack=r1\nr2', 'r2'],
  ['=r1', '=r1'],
  ['rack=r1\nrack=r2', 'rack=r2'],
  ['rack=r1\n\n env=b ', null],
])('the first wrong line of %j is %j', (text, expected) => {
  expect(wrongLabel(text)).toBe(expected)
})
