import { expect, test } from 'vitest'
import { titleOf } from './title'

test.each([
  [['Incidents', undefined, undefined], 'Incidents · Sinemora'],
  [['Heatmap', 'demo', undefined], 'Heatmap · demo · Sinemora'],
  [['Settings of demo', 'demo', undefined], 'Settings of demo · Sinemora'],
  [['c-2 → b-1', 'demo', '2'], '(2) c-2 → b-1 · demo · Sinemora'],
  [[undefined, undefined, '99+'], '(99+) Sinemora'],
] as const)('the title of %j', ([page, mesh, open], title) => {
  expect(titleOf(page, mesh, open)).toBe(title)
})
