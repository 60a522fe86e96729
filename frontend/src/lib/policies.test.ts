import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CONTRACT } from '~/testing/recorded'
import { POLICIES, policyOf, SIMULATED_POLICIES } from './policies'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

test('every policy of the API has a name and a line', () => {
  const ids: string[] = CONTRACT.components.schemas.Policy.enum
  expect(ids.length).toBeGreaterThan(1)
  for (const id of ids) expect(POLICIES[id]?.line, id).toMatch(/\.$/)
})

test('every simulated policy of the documentation has a name and a line', () => {
  const section = read('docs/simulation.md').split('## Policies')[1]?.split('\n## ')[0] ?? ''
  const ids = [...section.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? [])
  expect(ids.length).toBe(Object.keys(SIMULATED_POLICIES).length)
  for (const id of ids) expect(SIMULATED_POLICIES[id]?.line, id).toMatch(/\.$/)
})

test('a policy of a newer server keeps its identifier as a name', () => {
  expect(policyOf(POLICIES, 'quantum')).toEqual({ name: 'quantum', line: '' })
})
