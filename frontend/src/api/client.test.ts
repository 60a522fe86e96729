import { expect, test, vi } from 'vitest'
import { csrfToken, etagOf } from './client'

test.each([
  ['"3"', '"3"'],
  ['W/"3"', '"3"'],
  [undefined, '*'],
])('a change of the version %s names %s', (etag, named) => {
  expect(etagOf(new Response(null, { headers: etag ? { ETag: etag } : {} }))).toBe(named)
})

test.each([
  ['8420', 'sinemora_csrf=old; sinemora_csrf_9420=b; sinemora_csrf_8420=a', 'a'],
  ['', 'sinemora_csrf_8420=a; __Host-sinemora_csrf=own; sinemora_csrf=http', 'own'],
  ['9000', 'theme=dark; sinemora_csrf_8420=forwarded', 'forwarded'],
  ['8420', 'theme=dark', ''],
])('at the port %j, of the cookies %j the token is %j', (port, cookie, token) => {
  vi.stubGlobal('location', { port })
  vi.stubGlobal('document', { cookie })
  expect(csrfToken()).toBe(token)
})
