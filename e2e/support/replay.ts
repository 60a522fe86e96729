/** Serves the built front end and recorded responses: the product without a backend. */

import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize, resolve } from 'node:path'
import { type Answer, CONTRACT, keyOf, type Recording } from './recording'

/** The cookie that selects the responses: as recorded, without items, or signed out. */
export const VIEW = 'replay'
export type View = 'recorded' | 'empty' | 'signed-out'

const BUILT = process.env.SINEMORA_FRONTEND_DIR ?? resolve(import.meta.dirname, '../../frontend/dist')
const TYPES: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
const UNKNOWN: Answer = { status: 404, type: 'application/problem+json', body: { detail: 'This was not recorded.' } }
const NOBODY: Answer = { status: 200, type: 'application/json', body: { session: null } }
const SIGNED_OUT: Answer = { status: 401, type: 'application/problem+json', body: { detail: 'Sign in first.' } }

/** As the product allows styles (`backend/sinemora/kit/http/frontend.py`): no attributes of HTML, elements by their nonce. */
const NONCE = 'nonce-of-the-replay'
const STYLE_POLICY = `style-src 'self' 'nonce-${NONCE}'`

interface Replayed {
  url: string
  server: Server
  /** The open live streams. */
  streams: Set<ServerResponse>
}

/** Serve `recording` on a free port; `missed` collects requests that were not recorded. */
export async function startReplay(recording: Recording, missed: Set<string>): Promise<Replayed> {
  if (!existsSync(join(BUILT, 'index.html'))) throw new Error('The front end is not built: make setup')
  const streams = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    // Pages correct their clock by this header: it has to agree with the mocked clock.
    response.setHeader('Date', new Date(recording.now).toUTCString())
    const path = new URL(request.url ?? '/', 'http://sinemora.example').pathname
    if (path === CONTRACT) sendContract(response)
    else if (!path.startsWith('/v1/')) sendFile(path, response)
    else if (path.endsWith('/live')) openStream(response, streams)
    else void answer(recording, request, response, missed)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, streams }
}

/** Send a built file, or the page itself for any other path. */
function sendFile(path: string, response: ServerResponse) {
  const file = join(BUILT, normalize(path))
  const chosen = extname(file) && existsSync(file) ? file : join(BUILT, 'index.html')
  const isPage = extname(chosen) === '.html'
  response.writeHead(200, {
    'Content-Type': TYPES[extname(chosen)] ?? 'application/octet-stream',
    'Cache-Control': path.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-store',
    ...(isPage && { 'Content-Security-Policy': STYLE_POLICY }),
  })
  response.end(isPage ? readFileSync(chosen, 'utf8').replaceAll('nonce-of-the-response', NONCE) : readFileSync(chosen))
}

function sendContract(response: ServerResponse) {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  response.end(readFileSync(resolve(import.meta.dirname, '../../backend/openapi.json')))
}

/** Open a live stream; events are up to the test. */
function openStream(response: ServerResponse, streams: Set<ServerResponse>) {
  streams.add(response)
  response.on('close', () => streams.delete(response))
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  response.write(':\n\n')
}

async function answer(recording: Recording, request: IncomingMessage, response: ServerResponse, missed: Set<string>) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const key = keyOf(request.method ?? 'GET', request.url ?? '/', Buffer.concat(parts).toString('utf8'))
  const view = new RegExp(`${VIEW}=([a-z-]+)`).exec(request.headers.cookie ?? '')?.[1] as View | undefined
  const recorded = recording.answers[key]
  if (!recorded && view !== 'empty') missed.add(key)
  const refusal = key === 'GET /v1/auth/status' ? NOBODY : SIGNED_OUT
  const { status, type, body, bytes } = view === 'signed-out' ? refusal : (recorded ?? UNKNOWN)
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' })
  response.end(
    bytes === undefined ? JSON.stringify(view === 'empty' ? emptied(body) : body) : Buffer.from(bytes, 'base64'),
  )
}

/** Return a list without its items; other bodies unchanged. */
function emptied(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'items' in body ? { ...body, items: [], next_cursor: null } : body
}

/**
 * Pages that are also looked at without what they list. The empty lists of the console are one component: `meshes` stands
 * for them here, and `frontend/src/features/lists.test.tsx` has the words and the next step of each. The others have more.
 */
const EMPTY = ['meshes', 'usage', 'learning', 'curves']

/** Heatmaps that differ from another one by their numbers alone; their pictures are downloaded in `pages/picture.spec.ts`. */
const SAME_PAGE = new Set(['heatmap-delay', 'heatmap-loss'])

/** Return name, address and responses of each page that is looked at. */
export function viewsOf({ pages }: Recording): [string, string, View][] {
  return [
    ...Object.entries(pages)
      .filter(([name]) => !SAME_PAGE.has(name))
      .map(([name, address]): [string, string, View] => [
        name,
        address,
        name === 'sign-in' ? 'signed-out' : 'recorded',
      ]),
    ['api-reference-signed-out', pages['api-reference'] as string, 'signed-out'],
    ...EMPTY.map((name): [string, string, View] => [`${name}-empty`, pages[name] as string, 'empty']),
  ]
}
