import { expect, test } from 'vitest'
import { changedFields, differences, rebase } from './edited'

const before = { name: 'a', zones: ['x'], limit: 1 }

test('untouched fields follow the other person, typed ones stay', () => {
  const typed = { name: 'mine', zones: ['x'], limit: 1 }
  expect(rebase(typed, before, { name: 'theirs', zones: ['y'], limit: 2 })).toEqual({
    name: 'mine',
    zones: ['y'],
    limit: 2,
  })
})

test('a request has only the fields that the person changed', () => {
  expect(changedFields(before, { name: 'a', zones: ['x', 'y'], limit: 1 })).toEqual({ zones: ['x', 'y'] })
  expect(changedFields(before, before)).toEqual({})
})

test('differences name the field and both values', () => {
  expect(differences({ Name: 'a', Limit: '1 µs' }, { Name: 'a', Limit: '2 µs', Scope: 'all' })).toEqual([
    { label: 'Limit', before: '1 µs', now: '2 µs' },
    { label: 'Scope', before: '', now: 'all' },
  ])
})
