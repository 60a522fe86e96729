/** The product of the journeys: at SINEMORA_E2E_URL, or started before and stopped after them. */

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
/** PATH with the backend's commands. */
export const COMMANDS = [join(ROOT, 'backend/.venv/bin'), process.env.PATH].join(delimiter)
const START_PATIENCE_MS = 300_000
const STOP_PATIENCE_MS = 60_000

/** Start a product, unless there is a URL or only recorded pages are shown. */
export default async function start(): Promise<(() => Promise<void>) | undefined> {
  if (process.argv.includes('--project=pages')) return undefined
  if (process.env.SINEMORA_E2E_URL) {
    if (!process.env.SINEMORA_E2E_EMAIL || !process.env.SINEMORA_E2E_PASSWORD) {
      throw new Error('SINEMORA_E2E_URL needs SINEMORA_E2E_EMAIL and SINEMORA_E2E_PASSWORD too.')
    }
    return undefined
  }
  const frontend = process.env.SINEMORA_FRONTEND_DIR ?? join(ROOT, 'frontend/dist')
  if (!existsSync(join(frontend, 'index.html'))) throw new Error('The front end is not built: make setup')
  const folder = mkdtempSync(join(tmpdir(), 'sinemora-e2e-'))
  // Started by root, the embedded servers run as another user, who must be able to reach the data inside.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const password = randomBytes(12).toString('hex')
  const providerPort = await freePort()
  const env = {
    ...process.env,
    PATH: COMMANDS,
    SINEMORA_PORT: String(port),
    SINEMORA_DATA_DIR: join(folder, 'data'),
    SINEMORA_OWNER_EMAIL: 'journeys@sinemora.example',
    SINEMORA_OWNER_PASSWORD: password,
    SINEMORA_DEMO_AGENTS: '4',
    SINEMORA_DEMO_STORY: 'off',
    SINEMORA_AGENTS_URL: `http://127.0.0.1:${port}`,
    SINEMORA_ALERT_SETTLING_S: '0',
    SINEMORA_FRONTEND_DIR: frontend,
    SINEMORA_OIDC_ISSUER: `http://127.0.0.1:${providerPort}`,
    SINEMORA_OIDC_CLIENT_ID: 'sinemora',
    SINEMORA_OIDC_CLIENT_SECRET: 'secret of the tests, long enough',
    SINEMORA_OIDC_NAME: 'Northwind',
    SINEMORA_OIDC_SCOPES: 'openid email profile groups',
    SINEMORA_OIDC_ROLES: 'sre=editor',
  }
  const provider = spawn(process.execPath, [join(import.meta.dirname, 'provider.ts')], {
    env: {
      ...process.env,
      PORT: String(providerPort),
      REDIRECT_URI: `http://127.0.0.1:${port}/v1/auth/provider/callback`,
      PEOPLE: JSON.stringify({
        ana: { email: 'ana@northwind.example', email_verified: true, groups: ['sre'] },
        bo: { email: 'bo@northwind.example', email_verified: true, groups: ['sales'] },
      }),
    },
    stdio: 'ignore',
  })
  const output: string[] = []
  const product = spawn('sinemora', ['up'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [product.stdout, product.stderr]) stream.on('data', (text) => output.push(String(text)))
  const ended = once(product, 'exit')

  async function stop() {
    provider.kill()
    product.kill('SIGINT')
    const timer = setTimeout(() => product.kill('SIGKILL'), STOP_PATIENCE_MS)
    await ended
    clearTimeout(timer)
    rmSync(folder, { recursive: true, force: true })
  }

  try {
    await Promise.race([
      answering(`http://127.0.0.1:${port}/readyz`, START_PATIENCE_MS),
      ended.then(() => Promise.reject(new Error('The product ended while it started.'))),
    ])
    await run('sinemora', ['wait'], env)
  } catch (error) {
    await stop()
    throw new Error(`The product did not start.\n${output.join('')}`, { cause: error })
  }
  process.env.SINEMORA_E2E_URL = `http://127.0.0.1:${port}`
  process.env.SINEMORA_E2E_EMAIL = env.SINEMORA_OWNER_EMAIL
  process.env.SINEMORA_E2E_PASSWORD = password
  process.env.SINEMORA_E2E_PROVIDER = env.SINEMORA_OIDC_NAME
  return stop
}

/** Return a port on which nothing listens at this moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function answering(url: string, patienceMs: number) {
  const end = Date.now() + patienceMs
  while (Date.now() < end) {
    const response = await fetch(url).catch(() => null)
    if (response?.ok) return
    await new Promise((done) => setTimeout(done, 300))
  }
  throw new Error(`Nothing answers at ${url}.`)
}

async function run(command: string, args: string[], env: NodeJS.ProcessEnv) {
  const [code] = await once(spawn(command, args, { cwd: ROOT, env, stdio: 'inherit' }), 'exit')
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}.`)
}
