import { expect, test } from 'vitest'
import type { Series } from '~/api/types'
import { valuesAt } from './earlierSeries'

const DAY = 86_400
const series = (times: number[], resolution_s: number) =>
  ({ resolution_s, points_at: times.map((at) => new Date((at - DAY) * 1_000).toISOString()) }) as unknown as Series

test.each([
  ['equal times', [600, 660, 720], [600, 660, 720], [1, 2, 3]],
  ['times that lie a little apart', [600, 660, 720], [610, 670, 730], [1, 2, 3]],
  ['a gap of the earlier period', [600, 660, 720, 780], [600, 720, 780], [1, null, 2, 3]],
  ['more earlier points than shown ones', [660], [600, 660, 720], [2]],
  ['an earlier period without points', [600, 660], [], [null, null]],
])('%s', (_, times, earlier, expected) => {
  const values = valuesAt(
    times.map((at) => at + DAY),
    {
      series: series(
        earlier.map((at) => at + DAY),
        60,
      ),
      offsetS: DAY,
    },
    [1, 2, 3],
  )
  expect(values).toEqual(expected)
})
