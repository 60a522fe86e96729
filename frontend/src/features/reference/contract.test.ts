import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Contract, fieldsOf, matching, objectOf, operationsByTag, typeOf } from './contract'

const contract = JSON.parse(readFileSync(`${import.meta.dirname}/../../../../backend/openapi.json`, 'utf8')) as Contract
const groups = operationsByTag(contract)

test('every operation of the contract is listed once', () => {
  const listed = groups.flatMap(([, operations]) => operations.map(({ operationId }) => operationId))
  const all = Object.values(contract.paths).flatMap((item) => Object.values(item).map((one) => one.operationId))
  expect(new Set(listed)).toEqual(new Set(all))
  expect(listed.length).toBe(all.length)
})

test('an operation has the parameters and problems that it shares with others, and its own', () => {
  const operations = groups.flatMap(([, listed]) => listed)
  const update = operations.find(({ operationId }) => operationId === 'update_mesh')
  expect(update?.parameters.map(({ name }) => name)).toEqual(['mesh_id', 'if-match'])
  expect(update?.responses[404]).toMatchObject({ description: 'Not Found', 'x-problem-codes': ['mesh_unknown'] })
  expect(update?.responses[422]?.['x-problem-codes']).toContain('request_invalid')
  expect(JSON.stringify(operations)).not.toContain('#/components/parameters/')
})

test('operations are found by every word', () => {
  const found = matching(groups, 'POST mesh create').flatMap(([, operations]) => operations)
  expect(found.map(({ operationId }) => operationId)).toContain('create_mesh')
  expect(found.every(({ method }) => method === 'POST')).toBe(true)
  expect(matching(groups, 'no-such-thing')).toEqual([])
})

test('types are named as people read them', () => {
  expect(typeOf({ anyOf: [{ type: 'string', format: 'uuid' }, { type: 'null' }] })).toBe('string (uuid) or null')
  expect(typeOf({ type: 'array', items: { $ref: '#/components/schemas/MeshRead' } })).toBe('list of MeshRead')
  expect(typeOf({ enum: ['full', 'event'] })).toBe('full or event')
})

test('the fields of a body are those of its schema', () => {
  const fields = fieldsOf(contract, objectOf(contract, { $ref: '#/components/schemas/MeshCreate' }))
  expect(fields.find(({ name }) => name === 'name')?.required).toBe(true)
  expect(fields.find(({ name }) => name === 'rate_hz')?.required).toBe(false)
  expect(fields.find(({ name }) => name === 'strategy')?.type).toContain('full or ')
})
