import { expect, test } from 'vitest'
import { costSentence, costWords } from './costs'

const app = (name: string, cost: number | null) => ({ name, cost })

test.each([
  [[], 'No application is affected.', 'None'],
  [[app('checkout', 0.18)], 'Costs checkout 18.0 points.', 'checkout 18.0 points'],
  [
    [app('cache', 0.06), app('checkout', 0.18), app('idle', 0)],
    'Costs checkout 18.0 points, cache 6.0 points, 1 other application.',
    'checkout 18.0 points, cache 6.0 points, 1 other application',
  ],
  [[app('idle', 0)], 'Costs no performance now; 1 application affected.', 'None'],
  [[app('new', null), app('idle', 0)], 'Affects 2 applications.', '2 applications'],
])('%j', (applications, sentence, words) => {
  expect(costSentence({ applications })).toBe(sentence)
  expect(costWords({ applications })).toBe(words)
})
