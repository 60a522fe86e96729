/** The OpenAPI document of this installation, as the reference reads it. */

import { queryOptions } from '@tanstack/react-query'
import { Problem } from '~/lib/problem'

export interface Schema {
  $ref?: string
  type?: string
  format?: string
  title?: string
  description?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  default?: unknown
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

export interface Media {
  schema?: Schema
  example?: unknown
}

export interface Answer {
  description: string
  content?: Record<string, Media>
  headers?: Record<string, unknown>
  'x-problem-codes'?: string[]
}

interface Described {
  operationId: string
  summary: string
  description?: string
  tags?: string[]
  parameters?: (Parameter | Reference)[]
  requestBody?: { required?: boolean; content: Record<string, Media> }
  responses: Record<string, Answer | Reference>
  deprecated?: boolean
  /** Codes by status, in addition to those of the response. */
  'x-problem-codes'?: Record<string, string[]>
  'x-required-role': string
  'x-required-scopes'?: string[]
  'x-person-only'?: boolean
  'x-confirmation'?: boolean
}

/** An operation with the shared parts that it refers to. */
export interface Operation extends Described {
  method: string
  path: string
  parameters: Parameter[]
  responses: Record<string, Answer>
}

interface Reference {
  $ref: string
}

export interface ApiContract {
  paths: Record<string, Record<string, Described>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Answer>
    parameters: Record<string, Parameter>
  }
}

export const contractQuery = queryOptions({
  queryKey: ['contract'],
  queryFn: async () => {
    const response = await fetch('/v1/openapi.json')
    if (!response.ok) throw new Problem({}, response)
    return (await response.json()) as ApiContract
  },
  staleTime: Number.POSITIVE_INFINITY,
})

/** Return all operations by their first tag; tags and paths in the order of the alphabet. */
export function operationsByTag(contract: ApiContract): [string, Operation[]][] {
  const byTag = new Map<string, Operation[]>()
  for (const [path, item] of Object.entries(contract.paths)) {
    for (const [method, described] of Object.entries(item)) {
      const tag = described.tags?.[0] ?? 'other'
      byTag.set(tag, [...(byTag.get(tag) ?? []), inlined(contract, method.toUpperCase(), path, described)])
    }
  }
  return [...byTag].sort(([one], [other]) => one.localeCompare(other))
}

function inlined({ components }: ApiContract, method: string, path: string, described: Described): Operation {
  const responses = Object.entries(described.responses).map(([status, one]): [string, Answer] => {
    const answer = target(components.responses, one)
    const codes = [...(answer['x-problem-codes'] ?? []), ...(described['x-problem-codes']?.[status] ?? [])]
    return [status, { ...answer, 'x-problem-codes': codes.sort() }]
  })
  const parameters = (described.parameters ?? []).map((one) => target(components.parameters, one))
  return { ...described, method, path, parameters, responses: Object.fromEntries(responses) }
}

/** Return the shared part that a reference leads to; the part itself if it is none. */
function target<T extends Answer | Parameter>(shared: Record<string, T>, part: T | Reference): T {
  if (!('$ref' in part)) return part
  const found = shared[part.$ref.split('/').at(-1) ?? '']
  if (found === undefined) throw new Error(`the contract lacks ${part.$ref}`)
  return found
}

/** Return the operations whose method, path, name or description contains every word. */
export function matching(groups: [string, Operation[]][], text: string): [string, Operation[]][] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return groups
    .map(([tag, operations]): [string, Operation[]] => [
      tag,
      operations.filter(({ method, path, operationId, description }) => {
        const all = `${tag} ${method} ${path} ${operationId} ${description ?? ''}`.toLowerCase()
        return words.every((word) => all.includes(word))
      }),
    ])
    .filter(([, operations]) => operations.length > 0)
}

/** Return the type of a schema as people read it: `MeshRead`, `integer or null`, `list of string`. */
export function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? ''
  const several = schema.anyOf ?? schema.oneOf
  if (several) return [...new Set(several.map(typeOf))].join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => String(value)).join(' or ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object')
    return `map of ${typeOf(schema.additionalProperties)}`
  return schema.format ? `${schema.type} (${schema.format})` : (schema.type ?? 'any')
}

export interface Field {
  name: string
  type: string
  required: boolean
  description: string | undefined
  /** Objects that the value is or contains, by the name of their schema. */
  objects: [string, Schema][]
}

/** Return the type of a schema; an enumeration's is its values, not its name. */
export function shownType(contract: ApiContract, schema: Schema): string {
  const name = schema.$ref?.split('/').at(-1)
  const found = name === undefined ? undefined : contract.components.schemas[name]
  return found?.enum ? typeOf(found) : typeOf(schema)
}

/** Return the objects that a value of the schema is, or contains in lists and maps, by the name of their schema. */
export function objectsIn(contract: ApiContract, schema: Schema): [string, Schema][] {
  const name = schema.$ref?.split('/').at(-1)
  const found = name === undefined ? schema : contract.components.schemas[name]
  if (name !== undefined && found?.properties) return [[name, found]]
  const { anyOf, oneOf, items, additionalProperties: values } = found ?? {}
  const parts = [...(anyOf ?? oneOf ?? []), items, typeof values === 'object' ? values : undefined]
  return parts.flatMap((part) => (part ? objectsIn(contract, part) : []))
}

/** Return the fields of an object. */
export function fieldsOf(contract: ApiContract, schema: Schema): Field[] {
  return Object.entries(schema.properties ?? {}).map(([name, one]) => ({
    name,
    type: shownType(contract, one),
    required: schema.required?.includes(name) ?? false,
    description: one.description,
    objects: objectsIn(contract, one),
  }))
}
