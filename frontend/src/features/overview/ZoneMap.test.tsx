import { expect, test } from 'vitest'
import { deviations, meshHealth, openIncident, pairs } from '~/testing/overview'
import { screen, showPage, within } from '~/testing/page'
import { ZoneMap } from './ZoneMap'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const NONE = pairs(null, null, null, null)
const DELAYS = pairs(50_000, 60_000, 60_000, 50_000)

test.each([
  [NONE, DELAYS, 'No zone pair has a whole minute of measurements in the last 5 min.'],
  [DELAYS, NONE, 'No usual value yet: it needs about twenty minutes of measurements.'],
  [DELAYS, DELAYS, 'Every zone pair is as usual.'],
])('a map without changes says whether measurements or usual values are missing (%#)', async (now, usual, words) => {
  await showPage(<ZoneMap mesh={meshHealth()} deviations={deviations(now, usual)} />)
  expect(screen.getByText(words)).toBeTruthy()
})

test.each([
  ['last_hour', 25 * MINUTE, true],
  ['last_hour', 15 * MINUTE, false],
  ['last_day', 15 * HOUR, true],
  ['last_day', 6 * HOUR, false],
  ['same_hour', 8 * 24 * HOUR, true],
  ['same_hour', 2 * 24 * HOUR, false],
] as const)(
  'a usual value of %s, learnt during an incident of %d ms on its paths, is not usual',
  async (basis, ms, is) => {
    const incident = openIncident({ onset_at: new Date(Date.now() - ms).toISOString() })
    const mesh = meshHealth({ open_incidents: 1, worst_incidents: [incident] })
    await showPage(<ZoneMap mesh={mesh} deviations={deviations(DELAYS, DELAYS, { basis, steps: 20 })} />)
    expect(screen.queryAllByRole('link', { name: /the usual value is from the time of an incident/ })).toHaveLength(+is)
  },
)

test('a slow VM, a lossy pair and a silent VM have marks of their own', async () => {
  const of = (suspect: string, zones: string[], metric: 'loss' | 'one_way_delay') =>
    openIncident({
      id: suspect,
      title: `incident of ${suspect}`,
      zones,
      metric,
      culprit: { suspect, at: null, other: null, words: '' },
      onset_at: new Date(Date.now() - MINUTE).toISOString(),
    })
  const mesh = meshHealth({
    open_incidents: 4,
    worst_incidents: [
      of('vm', ['z1'], 'one_way_delay'),
      of('pair', ['z1', 'z2'], 'loss'),
      of('agent', ['z2'], 'loss'),
      of('zone_pair', ['z2'], 'one_way_delay'), // of a minute that is not merged yet
    ],
  })
  await showPage(<ZoneMap mesh={mesh} deviations={deviations(DELAYS, DELAYS)} />)
  const cells = within(screen.getByRole('table')).getAllByRole('link')
  expect(cells.map(({ ariaLabel, title }) => (ariaLabel ?? title).replace(/p50 [^;]+, as usual; /, ''))).toEqual([
    'eu-1a to eu-1a: slower VM or path',
    'eu-1a to eu-1b: slower VM or path; packets lost; silent VM',
    'eu-1b to eu-1a: slower VM or path; packets lost; silent VM',
    'eu-1b to eu-1b: silent VM; slower VM or path',
  ])
})
