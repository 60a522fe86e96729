import { expect, test } from 'vitest'
import { etagOf } from './client'

test.each([
  ['"3"', '"3"'],
  ['W/"3"', '"3"'],
  [undefined, '*'],
])('a change of the version %s names %s', (etag, named) => {
  expect(etagOf(new Response(null, { headers: etag ? { ETag: etag } : {} }))).toBe(named)
})
