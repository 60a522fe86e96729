import { expect, test } from 'vitest'
import { causesOf } from './causes'

const mesh = { id: 'm', name: 'prod' }
const applications = [{ id: 'a', name: 'checkout', cost: 0.84, performance: 0.16, objective: 0.5 }]
const own = { id: 'own', mesh, applications }
const other = (id: string, cost: number | null, name = 'checkout', suspect = 'vm') =>
  ({
    id,
    title: `${id}: delay increased`,
    culprit: { suspect },
    applications: [{ ...applications[0], name, cost }],
  }) as never

test('incidents of the mesh on whose paths the application loses performance are its causes, costliest first', () => {
  const worst_incidents = [
    other('small', 0.1),
    other('large', 0.84),
    other('own', 0.9),
    other('nothing', 0),
    other('unknown', null),
    other('lookup', 0.5, 'lookup'),
    other('symptom', 0.5, 'checkout', 'application'),
  ]
  const elsewhere = { id: 'n', worst_incidents: [other('elsewhere', 0.5)] }
  expect(causesOf(own, [elsewhere, { id: 'm', worst_incidents }]).map(({ id, cost }) => [id, cost])).toEqual([
    ['large', 0.84],
    ['small', 0.1],
  ])
})
