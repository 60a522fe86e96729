import { expect, test } from 'vitest'
import { Problem } from './problem'

const refused = (errors: { pointer: string; message: string }[]) =>
  new Problem(
    { code: 'request_invalid', detail: 'Invalid request: see `errors`.', errors },
    new Response(null, { status: 422 }),
  )

test.each([
  ['#/path/rule_id', 'Rule id: must be a UUID'],
  ['#/query/limit', 'Limit: must be a UUID'],
  ['#/window_s', 'Window (s): must be a UUID'],
  ['#/applications/0', 'Applications, 0: must be a UUID'],
  ['#', 'must be a UUID'],
])('an invalid request names its error at %s as "%s"', (pointer, text) => {
  expect(refused([{ pointer, message: 'must be a UUID' }]).message).toBe(text)
})

test('all errors of a request are shown, in a form those that none of its fields shows', () => {
  const problem = refused([
    { pointer: '#/name', message: 'too long' },
    { pointer: '#/rate_hz', message: 'not a rate' },
  ])
  expect([problem.message, problem.rest()]).toEqual(Array(2).fill('Name: too long; Rate (hz): not a rate'))
  expect(problem.field('name')).toBe('too long')
  problem.field('window_s')
  expect(problem.rest()).toBe('Rate (hz): not a rate')
  problem.field('rate_hz')
  expect(problem.rest()).toBeNull()
})

test('a field shows the errors of all its parts', () => {
  const problem = refused([
    { pointer: '#/rows/1/x', message: 'no number' },
    { pointer: '#', message: 'no table' },
    { pointer: '#/source', message: 'too long' },
  ])
  expect(problem.among(/^rows\b|^$/).map(({ message }) => message)).toEqual(['no number', 'no table'])
  expect(problem.rest()).toBe('Source: too long')
})

test('a taken name is shown once: at its field, or at the form that has none', () => {
  const problem = new Problem({ code: 'mesh_name_taken', detail: 'Taken.' }, new Response(null, { status: 409 }))
  expect(problem.rest()).toBe('Taken.')
  problem.field('name')
  expect(problem.rest()).toBeNull()
})

test.each([
  ['mesh_name_taken', 'name'],
  ['saved_view_exists', 'name'],
  ['invitation_exists', 'email'],
])('a conflict %s is an error of the field %s', (code, name) => {
  const problem = new Problem({ code, detail: 'There is one already.' }, new Response(null, { status: 409 }))
  expect(problem.field(name)).toBe('There is one already.')
  expect(problem.field('other')).toBeUndefined()
})

test('a problem with its own explanation keeps it', () => {
  const problem = new Problem(
    {
      code: 'mesh_unknown',
      detail: 'Unknown mesh: x. Give the name or id of a mesh.',
      errors: [{ pointer: '#/mesh', message: 'name or id of a mesh' }],
    },
    new Response(null, { status: 422 }),
  )
  expect(problem.message).toBe('Unknown mesh: x. Give the name or id of a mesh.')
})
