import { expect, test } from 'vitest'
import { CONTRACT } from '~/testing/recorded'
import { type ApiContract, fieldsOf, matching, objectsIn, operationsByTag, typeOf } from './contract'
import { samplesOf } from './languages'

const contract: ApiContract = CONTRACT
const groups = operationsByTag(contract)
const operations = groups.flatMap(([, listed]) => listed)

test('every operation of the contract is listed once', () => {
  const listed = operations.map(({ operationId }) => operationId)
  const all = Object.values(contract.paths).flatMap((item) => Object.values(item).map((one) => one.operationId))
  expect(listed.sort()).toEqual(all.sort())
})

test('an operation has the parameters and problems that it shares with others, and its own', () => {
  const update = operations.find(({ operationId }) => operationId === 'update_mesh')
  expect(update?.parameters.map(({ name }) => name)).toEqual(['mesh_id', 'if-match'])
  expect(update?.responses[404]).toMatchObject({ description: 'Not Found', 'x-problem-codes': ['mesh_unknown'] })
  expect(update?.responses[422]?.['x-problem-codes']).toContain('request_invalid')
  expect(JSON.stringify(operations)).not.toContain('#/components/parameters/')
})

test('operations are found by every word', () => {
  const found = matching(groups, 'POST mesh create').flatMap(([, listed]) => listed)
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
  const [[, mesh] = ['', {}]] = objectsIn(contract, { $ref: '#/components/schemas/MeshCreate' })
  const fields = fieldsOf(contract, mesh)
  expect(fields.find(({ name }) => name === 'name')?.required).toBe(true)
  expect(fields.find(({ name }) => name === 'rate_hz')?.required).toBe(false)
  expect(fields.find(({ name }) => name === 'strategy')?.type).toContain('full or ')
  expect(fields.every(({ description }) => description)).toBe(true)
  const page = objectsIn(contract, { $ref: '#/components/schemas/Page_VmRead_' })[0]?.[1] ?? {}
  const inner = fieldsOf(contract, page).map(({ name, objects }) => [name, objects.map(([one]) => one)])
  expect(inner).toEqual([
    ['items', ['VmRead']],
    ['next_cursor', []],
  ])
})

test('a sample is a call of the operation in each language that has it', () => {
  const samples = (id: string) => samplesOf(operations.find((one) => one.operationId === id) as never, 'https://s')
  const texts = Object.fromEntries(samples('update_mesh'))
  expect(texts.curl).toMatch(/-X PATCH "https:\/\/s\/v1\/meshes\/\$MESH_ID" .+If-Match: \*.+--json '\{/s)
  expect(texts.Python).toMatch(/client\.update_mesh\(mesh_id, \{.+\}, version="\*"\)/s)
  expect(texts.TypeScript).toContain("client.PATCH('/v1/meshes/{mesh_id}', { params: { path: { mesh_id }, header:")
  expect(Object.fromEntries(samples('list_zones')).Python).toContain('for item in client.list_zones():')
  expect(samples('enrol_agent').map(([language]) => language)).toEqual(['curl'])
})
