import { expect, test } from 'vitest'
import { recurrenceSentence } from './recurrence'

const SINCE = '2026-11-21T10:00:00Z'
const SEEN = '2026-11-23T10:00:00Z'

test.each([
  [null, ''],
  [undefined, ''],
  [{ times: 2, since: SINCE, last_hour: 1, flaps: false }, 'Seen 2 times in 2 d. '],
  [{ times: 23, since: SINCE, last_hour: 2, flaps: false }, 'Seen 23 times in 2 d, 2 times in its last hour. '],
  [
    { times: 23, since: SINCE, last_hour: 6, flaps: true },
    'Seen 23 times in 2 d, 6 times in its last hour. It is flapping: it comes and goes. ',
  ],
])('%o is told as %s', (recurrence, words) => {
  expect(recurrenceSentence(recurrence, SEEN)).toBe(words)
})
