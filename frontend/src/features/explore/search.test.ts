import { expect, test } from 'vitest'
import { selections } from './search'

const ID = '00000000-0000-4000-8000-000000000000'

test('selections are kept once each, the whole mesh is the default', () => {
  expect(selections(`path:${ID}:${ID},path:${ID}:${ID},vm:${ID}`)).toEqual([`path:${ID}:${ID}`])
  expect(selections(undefined)).toEqual(['mesh'])
})
