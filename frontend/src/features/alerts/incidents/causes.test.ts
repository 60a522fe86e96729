import { expect, test } from 'vitest'
import { causesOf } from './causes'

const mesh = { id: 'm', name: 'prod' }
const applications = [{ id: 'a', name: 'checkout', cost: 0.84, performance: 0.16, objective: 0.5 }]
const own = { id: 'own', mesh, applications }
const other = (id: string, cost: number | null, name = 'checkout', of = mesh, suspect = 'vm') =>
  ({
    id,
    title: `${id}: delay increased`,
    mesh: of,
    suspect,
    applications: [{ ...applications[0], name, cost }],
  }) as never

test('incidents of the mesh on whose paths the application loses performance are its causes, costliest first', () => {
  const open = [
    other('small', 0.1),
    other('large', 0.84),
    other('own', 0.9),
    other('nothing', 0),
    other('unknown', null),
    other('lookup', 0.5, 'lookup'),
    other('elsewhere', 0.5, 'checkout', { id: 'n', name: 'test' }),
    other('symptom', 0.5, 'checkout', mesh, 'application'),
  ]
  expect(causesOf(own, open).map(({ id, cost }) => [id, cost])).toEqual([
    ['large', 0.84],
    ['small', 0.1],
  ])
})
