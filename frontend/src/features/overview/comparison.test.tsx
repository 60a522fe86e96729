// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { MeshHealth } from '~/api/overview'
import { deviations, meshHealth, openIncident } from '~/testing/overview'
import { showPage } from '~/testing/render'
import { Numbers } from './Numbers'
import { ZoneMap } from './ZoneMap'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const SAME = [
  [50_000, 700_000],
  [300_000, 50_000],
]
const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
const degraded = (ms: number) =>
  meshHealth({ open_incidents: 1, worst_incidents: [openIncident({ onset_at: ago(ms) })] })
const recovered = (fromMs: number, toMs: number) =>
  meshHealth({
    recent_incidents: [
      { id: 'i', severity: 'critical', title: 'delay increased', onset_at: ago(fromMs), ended_at: ago(toMs) },
    ],
  })

const ALL_USUAL = 'Every zone pair is as usual.'
const OF_INCIDENT =
  'The usual value of 4 of 4 zone pairs is from the time of an incident, so the incident does not show as a change.'
const YOUNG = /Compared with the last hour only; no earlier day to compare with yet\./
const NOT_IN_MEDIANS =
  /The open incident does not show in the p50 of a whole zone pair over the last 5 min: see its paths\./

type Case = [
  string,
  MeshHealth,
  'last_hour' | 'last_day' | 'same_hour',
  number,
  (string | RegExp)[],
  (string | RegExp)[],
]

test.each<Case>([
  ['flat, of weeks', meshHealth(), 'same_hour', 14, [ALL_USUAL], [OF_INCIDENT, YOUNG, NOT_IN_MEDIANS]],
  ['flat, of half an hour', meshHealth(), 'last_hour', 20, [ALL_USUAL, YOUNG], [OF_INCIDENT]],
  ['of half an hour, incident for 25 min', degraded(25 * MINUTE), 'last_hour', 20, [OF_INCIDENT, YOUNG], [ALL_USUAL]],
  [
    'of an hour, incident for 20 min',
    degraded(20 * MINUTE),
    'last_hour',
    50,
    [ALL_USUAL, NOT_IN_MEDIANS],
    [OF_INCIDENT],
  ],
  [
    'of two days, incident for 6 h',
    degraded(6 * HOUR),
    'last_day',
    22,
    [ALL_USUAL, NOT_IN_MEDIANS],
    [OF_INCIDENT, YOUNG],
  ],
  ['of two days, incident for 15 h', degraded(15 * HOUR), 'last_day', 22, [OF_INCIDENT], [ALL_USUAL, YOUNG]],
  ['of 5 hours, incident for 4 h', degraded(4 * HOUR), 'last_day', 4, [OF_INCIDENT], [ALL_USUAL]],
  ['of weeks, incident for 8 days', degraded(8 * 24 * HOUR), 'same_hour', 14, [OF_INCIDENT], [ALL_USUAL]],
  ['of weeks, incident for 2 days', degraded(2 * 24 * HOUR), 'same_hour', 14, [ALL_USUAL], [OF_INCIDENT]],
  ['recovered just now', recovered(60 * MINUTE, 5 * MINUTE), 'last_hour', 50, [OF_INCIDENT], [ALL_USUAL]],
  ['recovered long ago', recovered(20 * HOUR, 19 * HOUR), 'last_day', 22, [ALL_USUAL], [OF_INCIDENT]],
])('a mesh %s: the comparison contradicts no incident', async (_, mesh, basis, steps, said, unsaid) => {
  await showPage(<ZoneMap mesh={mesh} deviations={deviations(SAME, SAME, { basis, steps })} />)
  for (const words of said) expect(screen.getByText(words)).toBeTruthy()
  for (const words of unsaid) expect(screen.queryByText(words)).toBeNull()
})

test('cells and figures whose usual value is that of an incident say so instead of “as usual” and +0 %', async () => {
  const mesh = degraded(25 * MINUTE)
  const found = deviations(SAME, SAME, { basis: 'last_hour', steps: 20 })
  await showPage(
    <>
      <Numbers mesh={mesh} deviations={{ data: found }} />
      <ZoneMap mesh={mesh} deviations={found} />
    </>,
  )
  const label = 'eu-1a to eu-1b: p50 700 µs; the usual value is from the time of an incident'
  expect(screen.getByRole('link', { name: label })).toBeTruthy()
  expect(screen.queryByRole('link', { name: /as usual/ })).toBeNull()
  expect(screen.getByText('usual value from the time of an incident')).toBeTruthy()
  expect(screen.queryByText(/^[+−]?0/)?.textContent).toBe('0 %')
})

test('a new zone of an old mesh is named apart', async () => {
  const found = deviations(SAME, SAME)
  const basis = found.baseline?.basis as ('same_hour' | 'last_hour')[][]
  if (basis[1]) basis[1][1] = 'last_hour'
  await showPage(<ZoneMap mesh={meshHealth()} deviations={found} />)
  expect(screen.getByText(ALL_USUAL).parentElement?.textContent).toContain(
    '1 of 4 zone pairs: compared with the last hour only; no earlier day to compare with yet.',
  )
})
