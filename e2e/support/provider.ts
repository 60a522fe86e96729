/**
 * An OpenID provider as a process, for tests of the backend and for journeys: `node provider.ts`.
 *
 * PORT, REDIRECT_URI and PEOPLE (claims by login, JSON) come from the environment. PKCE is required. `POST /rotate`
 * replaces the signing key, as providers do now and then; `POST /people` replaces the claims.
 */

import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import Provider, { type Configuration } from 'oidc-provider'

interface Person {
  email?: string
  name?: string
  email_verified?: boolean
  groups?: string[]
  amr?: string[]
}

const port = Number(process.env.PORT)
const issuer = `http://127.0.0.1:${port}`
let people: Record<string, Person> = JSON.parse(process.env.PEOPLE ?? '{}')
let keyCount = 0

function withNewKey(): Provider {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  keyCount += 1
  const key = { ...privateKey.export({ format: 'jwk' }), kid: `key-${keyCount}`, use: 'sig', alg: 'RS256' }
  const configuration: Configuration = {
    clients: [
      {
        client_id: 'sinemora',
        client_secret: 'secret of the tests, long enough',
        redirect_uris: [process.env.REDIRECT_URI as string],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    jwks: { keys: [key] } as NonNullable<Configuration['jwks']>,
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: { openid: ['sub', 'amr'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['cookies of the tests'] },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    findAccount: (_, login) => ({
      accountId: login,
      claims: () => {
        const { amr: _, ...claims } = people[login] ?? {}
        return { sub: login, ...claims }
      },
    }),
    // Without a page that asks for consent: the provider and the client belong to one organisation.
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client?.clientId ?? '',
        accountId: ctx.oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
  }
  return new Provider(issuer, configuration)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

const PAGE = `<!doctype html><html lang="en"><title>Provider</title><h1>Provider of the tests</h1>
<form method="post"><label>Login <input name="login" autofocus></label> <button>Continue</button></form></html>`

let provider = withNewKey()

async function answer(request: IncomingMessage, response: ServerResponse) {
  const path = new URL(request.url ?? '/', issuer).pathname
  if (request.method === 'POST' && path === '/rotate') {
    provider = withNewKey()
    response.end('rotated')
  } else if (request.method === 'POST' && path === '/people') {
    people = JSON.parse(await bodyOf(request))
    response.end('replaced')
  } else if (path.startsWith('/interaction/') && request.method === 'GET') {
    response.setHeader('Content-Type', 'text/html')
    response.end(PAGE)
  } else if (path.startsWith('/interaction/')) {
    const login = new URLSearchParams(await bodyOf(request)).get('login') ?? ''
    const amr = people[login]?.amr
    const result = { login: { accountId: login, ...(amr ? { amr } : {}) } }
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  } else {
    provider.callback()(request, response)
  }
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    response.statusCode = 500
    response.end(String(error))
  })
}).listen(port, '127.0.0.1', () => console.log(`listening on ${issuer}`))
