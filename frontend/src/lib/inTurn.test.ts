import { expect, test } from 'vitest'
import { inTurn, NotStarted } from './inTurn'
import { Problem, Unreachable } from './problem'

const problem = (status: number, headers: Record<string, string> = {}) =>
  new Problem({ detail: 'Refused.', status }, new Response(null, { status, headers }))

const watch = () => ({ signal: new AbortController().signal, onProgress: () => {} })

test('each input has its turn after the one before, and failures keep their places', async () => {
  const events: string[] = []
  const done: number[] = []
  const act = async (name: string) => {
    events.push(`${name} begins`)
    await Promise.resolve()
    events.push(`${name} ends`)
    if (name === 'b') throw problem(409)
  }
  const failures = await inTurn(['a', 'b', 'c'], act, { ...watch(), onProgress: (count) => done.push(count) })
  expect(events).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  expect(done).toEqual([1, 2, 3])
  expect(failures.map((failure) => (failure instanceof Problem ? failure.message : failure))).toEqual([
    null,
    'Refused.',
    null,
  ])
})

test('stopped, it leaves the inputs that follow', async () => {
  const stopping = new AbortController()
  const acted: number[] = []
  const failures = await inTurn(
    [1, 2, 3],
    async (input) => {
      acted.push(input)
      stopping.abort()
    },
    { ...watch(), signal: stopping.signal },
  )
  expect(acted).toEqual([1])
  expect(failures.map((failure) => failure instanceof NotStarted)).toEqual([false, true, true])
})

test('without a connection the rest is not tried', async () => {
  const lost = new Unreachable('offline')
  let tries = 0
  const failures = await inTurn(
    [1, 2, 3],
    async () => {
      tries += 1
      throw lost
    },
    watch(),
  )
  expect(tries).toBe(1)
  expect(failures).toEqual([lost, lost, lost])
})

test('beyond the rate limit it waits as long as the server asks, and tries again', async () => {
  let tries = 0
  const failures = await inTurn(
    ['a'],
    async () => {
      tries += 1
      if (tries < 3) throw problem(429, { 'Retry-After': '0' })
    },
    watch(),
  )
  expect(tries).toBe(3)
  expect(failures).toEqual([null])
})
