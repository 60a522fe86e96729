/** The TypeScript client as other people's programs use it: built, its example compiled, against the running product. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { createKey, expect, read, remove, test } from '../support/journey'

const FRONTEND = resolve(import.meta.dirname, '../../frontend')

interface Failure {
  status: number
  code: string
  fields: { pointer: string; message: string }[]
}

interface Built {
  ApiError: new (body: unknown, response: Response) => Error & Failure
  // biome-ignore lint/suspicious/noExplicitAny: types of the built package are checked by compiling its example
  createSinemoraClient: (options: object) => any
  itemsOf: <T>(page: (cursor: object) => Promise<unknown>) => AsyncGenerator<T>
  unwrap: <T>(call: Promise<unknown>) => Promise<T>
}

let built: Built

test.beforeAll(async () => {
  execFileSync('npm', ['run', '--silent', 'client:build'], { cwd: FRONTEND, stdio: 'pipe' })
  built = (await import(join(FRONTEND, 'client/dist/index.js'))) as Built
})

test('the example of its page compiles', () => {
  // Inside the folder of the package, whose name then means itself.
  const folder = mkdtempSync(join(FRONTEND, 'client/dist/example-'))
  try {
    const [, example] = /```ts\n(.*?)```/s.exec(readFileSync(join(FRONTEND, 'client/README.md'), 'utf8')) ?? []
    const wrong = "\n// @ts-expect-error no such path\nclient.GET('/v1/nothing')\n"
    writeFileSync(join(folder, 'example.mts'), `${example}${wrong}`)
    const options = '--ignoreConfig --noEmit --strict --module nodenext --target es2023 --skipLibCheck --types node'
    const tsc = join(FRONTEND, 'node_modules/.bin/tsc')
    execFileSync(tsc, [...options.split(' '), 'example.mts'], { cwd: folder, stdio: 'pipe' })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a program lists, creates once, changes and is told what is wrong', async ({ inside: page, baseURL }) => {
  const { ApiError, createSinemoraClient, itemsOf, unwrap } = built
  const key = await createKey(page, `client ${Date.now()}`, 'inventory:write')
  const client = createSinemoraClient({ url: baseURL, key: key.secret })

  const named: string[] = []
  const page_of = (cursor: object) => client.GET('/v1/meshes', { params: { query: { ...cursor, limit: 1 } } })
  for await (const mesh of itemsOf<{ name: string }>(page_of)) named.push(mesh.name)
  expect(named).toContain('demo')

  const body = { name: `client-${Date.now()}`, rate_hz: 8 }
  const make = () => client.POST('/v1/meshes', { body, params: { header: { 'idempotency-key': body.name } } })
  const mesh = await unwrap<{ id: string; version: number }>(make())
  expect((await unwrap<{ id: string }>(make())).id).toBe(mesh.id)
  const change = (version: number) =>
    client.PATCH('/v1/meshes/{mesh_id}', {
      params: { path: { mesh_id: mesh.id }, header: { 'if-match': `"${version}"` } },
      body: { rate_hz: 16 },
    })
  expect(await unwrap(change(mesh.version))).toMatchObject({ rate_hz: 16 })
  const stale = await unwrap(change(mesh.version)).catch((error: unknown) => error)
  expect(stale).toBeInstanceOf(ApiError)
  expect(stale).toMatchObject({ status: 412, code: 'version_changed' })
  const wrong = await unwrap<never>(client.POST('/v1/meshes', { body: { name: '', rate_hz: 3 } })).catch(
    (error: Failure) => error,
  )
  expect(wrong).toMatchObject({ status: 422, code: 'request_invalid' })
  expect(wrong.fields.map(({ pointer }) => pointer)).toEqual(['#/name', '#/rate_hz'])

  const { version } = await read<{ version: number }>(page, `/v1/meshes/${mesh.id}`)
  await unwrap(
    client.DELETE('/v1/meshes/{mesh_id}', {
      params: { path: { mesh_id: mesh.id }, header: { 'if-match': `"${version}"` } },
    }),
  )
  await remove(page, `/v1/api-keys/${key.id}`)
})

test('a request is sent again after the wait that the answer asks for, with the same idempotency key', async () => {
  const { createSinemoraClient, unwrap } = built
  const keys: (string | string[] | undefined)[] = []
  const server = createServer((request, response) => {
    keys.push(request.headers['idempotency-key'])
    request.resume()
    if (keys.length === 1) response.writeHead(503, { 'Retry-After': '1' }).end()
    else if (keys.length === 2) request.socket.destroy()
    else response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"id": "z"}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const began = Date.now()
    const body = { provider: 'aws', region: 'r', name: 'z' }
    expect(await unwrap(createSinemoraClient({ url }).POST('/v1/zones', { body }))).toEqual({ id: 'z' })
    expect(Date.now() - began).toBeGreaterThanOrEqual(1_000)
    expect(new Set(keys).size).toBe(1)
    expect(keys).toHaveLength(3)
    await expect(
      unwrap(createSinemoraClient({ url: 'http://127.0.0.1:9', retries: { attempts: 1 } }).GET('/v1/about')),
    ).rejects.toThrow(/fetch failed/)
    expect(() => createSinemoraClient({ url: 'sinemora.example' })).toThrow('It begins with https://.')
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
