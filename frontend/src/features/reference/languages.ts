/** Programs that call an operation: with curl, and with the clients for Python and TypeScript. */

import type { Operation } from './contract'

export type Language = 'curl' | 'Python' | 'TypeScript'

/** Return the call of an operation in each language that has it. The clients have what an API key may call. */
export function samplesOf(operation: Operation, origin: string): [Language, string][] {
  const [mediaType, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const call = { operation, origin, mediaType, body: media?.example }
  const isForKeys = !operation['x-person-only'] && !['none', 'agent'].includes(operation['x-required-role'])
  const isJson = mediaType === undefined || mediaType === 'application/json'
  const samples: [Language, string][] = [['curl', curl(call)]]
  return isForKeys && isJson ? [...samples, ['Python', python(call)], ['TypeScript', typescript(call)]] : samples
}

interface Call {
  operation: Operation
  origin: string
  mediaType: string | undefined
  body: unknown
}

const inPath = ({ parameters }: Operation) => parameters.filter((one) => one.in === 'path').map(({ name }) => name)
const hasVersion = ({ parameters }: Operation) => parameters.some(({ name }) => name.toLowerCase() === 'if-match')
const requiredQuery = ({ parameters }: Operation) =>
  parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => name)
const variable = (name: string) => name.toUpperCase().replaceAll('-', '_')

function curl({ operation, origin, mediaType, body }: Call): string {
  const path = operation.path.replace(/\{(.+?)\}/g, (_, name: string) => `$${variable(name)}`)
  const query = requiredQuery(operation).map((name) => `${name}=$${variable(name)}`)
  const address = `"${origin}${path}${query.length > 0 ? `?${query.join('&')}` : ''}"`
  const lines = [`curl -sS --fail-with-body${operation.method === 'GET' ? '' : ` -X ${operation.method}`} ${address}`]
  if (operation['x-required-role'] !== 'none') lines.push('-H "Authorization: Bearer $KEY"')
  if (hasVersion(operation)) lines.push("-H 'If-Match: *'")
  if (mediaType === 'application/json')
    lines.push(`--json '${JSON.stringify(body ?? {}, null, 2).replaceAll("'", "'\\''")}'`)
  else if (mediaType !== undefined) lines.push(`-H 'Content-Type: ${mediaType}' --data-binary @FILE`)
  return lines.join(' \\\n  ')
}

function python({ operation, origin, mediaType, body }: Call): string {
  const inputs = [
    ...inPath(operation),
    ...(mediaType ? [pythonOf(body ?? {}, '')] : []),
    ...requiredQuery(operation).map((name) => `${name}=${name}`),
    ...(hasVersion(operation) ? ['version="*"'] : []),
  ]
  const call = `client.${operation.operationId}(${inputs.join(', ')})`
  const isList = operation.parameters.some(({ name }) => name === 'cursor')
  return [
    'from sinemora_client import Client\n',
    `client = Client("${origin}", key)`,
    isList ? `for item in ${call}:\n    print(item)` : `print(${call})`,
  ].join('\n')
}

/** Return JSON as Python writes it. */
function pythonOf(value: unknown, indent: string): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const isList = Array.isArray(value)
  const deeper = `${indent}    `
  const parts = Object.entries(value).map(([name, one]) => {
    const text = pythonOf(one, deeper)
    return isList ? text : `${JSON.stringify(name)}: ${text}`
  })
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  return parts.length === 0 ? open + close : `${open}\n${deeper}${parts.join(`,\n${deeper}`)},\n${indent}${close}`
}

function typescript({ operation, origin, mediaType, body }: Call): string {
  const named = (names: string[]) => `{ ${names.join(', ')} }`
  const params = [
    ...(inPath(operation).length > 0 ? [`path: ${named(inPath(operation))}`] : []),
    ...(requiredQuery(operation).length > 0 ? [`query: ${named(requiredQuery(operation))}`] : []),
    ...(hasVersion(operation) ? ["header: { 'if-match': '*' }"] : []),
  ]
  const options = [
    ...(params.length > 0 ? [`params: ${named(params)}`] : []),
    ...(mediaType ? [`body: ${JSON.stringify(body ?? {}, null, 2)}`] : []),
  ]
  const more = options.length > 0 ? `, ${named(options)}` : ''
  return [
    "import { createSinemoraClient, unwrap } from 'sinemora-client'\n",
    `const client = createSinemoraClient({ url: '${origin}', key })`,
    `console.log(await unwrap(client.${operation.method}('${operation.path}'${more})))`,
  ].join('\n')
}
