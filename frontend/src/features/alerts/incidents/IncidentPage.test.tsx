// @vitest-environment jsdom
import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Incident } from '~/api/incidents'
import { sentenceCase } from '~/lib/text'
import { mockApi } from '~/testing/api'
import { IMPACT, incident } from '~/testing/incidents'
import { showPage } from '~/testing/render'
import { IncidentPage } from './IncidentPage'

const ROSTER = {
  mesh_id: 'm',
  revision: 1,
  vms: [],
  zones: [
    { id: 'z1', name: 'eu-1a', first: 0, count: 4 },
    { id: 'z2', name: 'eu-1b', first: 4, count: 2 },
  ],
}
const SERIES = {
  points_at: ['2026-11-23T10:40:00Z', '2026-11-23T10:43:00Z'],
  resolution_s: 10,
  outbound: { delay_ns: [20_000, 430_000], clock_error_ns: [100, 100], loss: [0, 0] },
  inbound: { delay_ns: [20_000, 20_000], clock_error_ns: [100, 100], loss: [0, 0] },
  round_trip: { delay_ns: [40_000, 450_000], loss: [0, 0] },
}

/** Ten minutes before the incident, until now. */
const TIME = 'from=2026-11-23T10%3A32%3A00.000Z'

async function showIncident(changes: Partial<Incident> = {}, deliveries: object[] = []) {
  const sent = mockApi({
    'GET /v1/incidents/i': incident(changes),
    'GET /v1/meshes/m/roster': ROSTER,
    'GET /v1/meshes/m/paths/v1/v2/series': SERIES,
    'GET /v1/deliveries': deliveries,
  })
  const router = await showPage(<IncidentPage incidentId="i" />)
  await screen.findByRole('heading', { level: 1, name: sentenceCase(incident(changes).title) })
  return { sent, router }
}

test('the headline says what, where, how much over usual, since when, and who suffers', async () => {
  await showIncident()
  const headline = screen.getByRole('region', { name: 'Summary' })
  expect(headline.textContent).toMatch(
    /^One-way delay, p50: 21\.0 µs → 412 µs \(\+391 µs, limit 36\.0 µs\) on 5 of 5 paths from a-1\.Since /,
  )
  expect(headline.textContent).toContain('checkout: 18.0 points of performance lost')
  const href = (name: string) => within(headline).getByRole('link', { name }).getAttribute('href')
  expect(href('Heatmap at the onset')).toBe('/meshes/m?from=2026-11-23T10%3A32%3A00Z&select=v1')
  expect(href('Moves for checkout')).toBe('/applications/a')
  const runbook = within(headline).getByRole('link', { name: 'Runbook: Delay above its baseline' })
  expect(runbook.getAttribute('href')).toBe('https://runbooks.example/slow')
})

test('an open incident is to be acknowledged first, an acknowledged one to be resolved', async () => {
  await showIncident()
  const variant = (name: string) => screen.getByRole('button', { name }).getAttribute('data-variant')
  await screen.findByRole('button', { name: 'Acknowledge' })
  expect([variant('Acknowledge'), variant('Resolve')]).toEqual(['filled', 'default'])
})

test('an acknowledged incident is to be resolved', async () => {
  await showIncident({ state: 'acknowledged' })
  const resolve = await screen.findByRole('button', { name: 'Resolve' })
  expect(resolve.getAttribute('data-variant')).toBe('filled')
  expect(screen.queryByRole('button', { name: 'Acknowledge' })).toBeNull()
})

test('suspects and paths are links, and suspects say how much they explain', async () => {
  const { router } = await showIncident()
  const suspects = within(screen.getByRole('region', { name: 'Suspects' }))
  const row = within(suspects.getByRole('row', { name: /^egress of a-1/ }))
  expect(row.getByRole('link').getAttribute('href')).toBe('/vms/v1')
  expect(row.getByText('5 of 5 affected paths')).toBeTruthy()
  const zones = await suspects.findByRole('link', { name: 'zone eu-1a to zone eu-1b' })
  await expect.poll(() => zones.getAttribute('href')).toBe(`/meshes/m?${TIME}&view=0%2C4%2C4`)
  const paths = within(screen.getByRole('region', { name: 'Paths with the largest change' }))
  expect(paths.getByRole('link', { name: 'a-1 → b-1' }).getAttribute('href')).toBe(`/meshes/m/paths/v1/v2?${TIME}`)
  expect(paths.getByText('+400 µs')).toBeTruthy()
  const cells = screen.getByRole('group', { name: /^Paths among a-1, b-1/ }).querySelectorAll('a')
  expect([...cells].map((cell) => cell.getAttribute('href'))).toEqual([
    `/meshes/m/paths/v1/v2?${TIME}`,
    `/meshes/m/paths/v2/v1?${TIME}`,
  ])
  expect(router.state.location.pathname).toBe('/')
})

test('the chart shows the worst path with its usual value and the limit', async () => {
  const { sent } = await showIncident()
  const name = 'One-way delay, p50 of a-1 → b-1 around the incident; usual 20.0 µs, limit 36.0 µs'
  expect((await screen.findByRole('img', { name })).dataset.limits).toBe('20000,36000')
  const request = sent.find(({ to }) => to === 'GET /v1/meshes/m/paths/v1/v2/series')
  expect(request?.query.get('statistic')).toBe('p50')
  expect(Date.parse(request?.query.get('from') ?? '')).toBeLessThan(Date.parse('2026-11-23T10:32:01Z'))
  expect(request?.query.get('to')).toBeNull()
})

test.each([
  ['spikes', 2_190_000, 'From each row to each column; maximum 2.19 ms above the median.'],
  ['delay', 5_000_000, 'From each row to each column; maximum 5.00 ms.'],
  ['loss', 0, undefined],
] as const)('the map of %s shows what the incident is about, and nothing is no map', async (unit, value, caption) => {
  const { evidence } = incident()
  const values = [
    [null, value],
    [0, null],
  ]
  await showIncident({ evidence: { ...evidence, heatmap: { ...evidence.heatmap, unit, values, changes_ns: null } } })
  expect(screen.queryByText(/^From each row to each column/)?.firstChild?.textContent).toBe(caption)
})

test('the verdict has its reasons', async () => {
  await showIncident()
  expect(screen.getByText('The network changed.')).toBeTruthy()
  const panel = screen.getByText('The network changed.').closest('section') as HTMLElement
  const reasons = within(panel)
    .getAllByRole('listitem')
    .map(({ textContent }) => textContent)
  expect(reasons).toEqual([
    '5 of 5 affected paths are slower than usual, by +391 µs in the median.',
    'The reverse direction is as usual (+200 ns): only one direction is affected.',
    'The round trip changed by +391 µs; it does not depend on clocks.',
    'By their curves these applications lose performance: checkout.',
  ])
})

test('a clock is named as the fault where the round trip stayed', async () => {
  const reason = { paths: null, compared: null, loss: null, applications: [] }
  await showIncident({
    verdict: {
      kind: 'clock',
      others: [],
      reasons: [
        { ...reason, code: 'reverse_down', change_ns: -300_000 },
        { ...reason, code: 'round_trip_unchanged', change_ns: 1_000 },
      ],
    },
  })
  expect(screen.getByText('A clock changed, not the network.')).toBeTruthy()
  expect(screen.getByText('The reverse direction seems faster by 300 µs.')).toBeTruthy()
  expect(screen.getByText(/a clock offset adds to one direction what it takes from the other/)).toBeTruthy()
})

test('another incident that explains a missed objective is linked with what it costs', async () => {
  const reason = { paths: null, compared: null, change_ns: null, loss: null, applications: [] }
  await showIncident({
    verdict: {
      kind: 'network',
      others: [{ id: 'j', title: 'zone eu-west-1a: delay increased', application: 'checkout', cost: 0.84 }],
      reasons: [{ ...reason, code: 'other_incident' }],
    },
  })
  const link = screen.getByRole('link', { name: 'Zone eu-west-1a: delay increased' })
  expect(link.getAttribute('href')).toBe('/incidents/j')
  expect(link.parentElement?.textContent).toMatch(/costs checkout 84.0 points of performance\.$/)
  expect(screen.getByText('Another incident explains why the objective is missed.')).toBeTruthy()
})

test('notifications are listed with their result', async () => {
  await showIncident({}, [
    {
      id: 'd',
      incident_id: 'i',
      receiver: 'on call',
      about: 'opened',
      state: 'failed',
      attempts: 8,
      due_at: '2026-11-23T10:42:20Z',
      sent_at: null,
      answer: '503 unavailable',
      created_at: '2026-11-23T10:42:20Z',
    },
  ])
  const row = within(await screen.findByRole('row', { name: /^on call/ }))
  for (const text of ['opened', 'Failed', '8', '503 unavailable']) expect(row.getByText(text)).toBeTruthy()
})

test('an incident without paths, applications, notifications and similar ones says so', async () => {
  const { evidence, figures } = incident()
  await showIncident({
    title: 'VM a-1 or its agent is down',
    paths: 0,
    applications: [],
    runbooks: [],
    evidence: {
      ...evidence,
      paths: 0,
      impact: null,
      heatmap: { names: [], ids: [], unit: 'loss', values: [], changes_ns: null },
    },
    verdict: { kind: 'agent', others: [], reasons: [] },
    ended_at: '2026-11-23T10:54:00Z',
    state: 'resolved',
    figures: { ...figures, sentences: [], costs: [], links: { ...figures.links, moves: [] } },
  })
  expect(screen.getByRole('region', { name: 'Summary' }).textContent).toMatch(
    /^Lasted 12 min, from .* to .*\. The figures are those of its worst window, .*\.No application is affected\.Heatmap at the onset$/,
  )
  expect(screen.queryByRole('heading', { name: 'Value over time' })).toBeNull()
  expect(screen.getByText('No application communicates over the affected paths.')).toBeTruthy()
  expect(await screen.findByText(/^No receiver was notified: there is no default receiver/)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Receivers and routes' }).getAttribute('href')).toBe('/receivers')
  expect(screen.queryByRole('heading', { name: 'Similar earlier incidents' })).toBeNull()
})

test('uneven shares are shown with their index, its limit, and the fairness meter', async () => {
  const fairness = {
    among: 'flows' as const,
    index: 0.7623,
    below: 0.883,
    path: ['a-1', 'b-1'],
    count: 4,
    members: [
      { name: 'port 3', share: 250, relative: 0.07 },
      { name: 'port 1', share: 4_762, relative: 1.26 },
    ],
  }
  const { evidence, verdict } = incident()
  const reason = { code: 'shares_uneven' as const, paths: null, compared: null, change_ns: null, loss: null }
  await showIncident({
    evidence: { ...evidence, impact: null, fairness },
    verdict: { ...verdict, kind: 'fairness', reasons: [{ ...reason, applications: [] }] },
  })
  expect(screen.getByText(/Fairness index of 4 flows between a-1 and b-1: 0\.762, limit 0\.883\./)).toBeTruthy()
  expect(screen.getByText(/The 2 smallest of 4 shares\./)).toBeTruthy()
  const rows = [...(screen.getByText('port 3').closest('table')?.querySelectorAll('tr') ?? [])]
  expect(rows.map((row) => row.textContent)).toEqual([
    'MemberRequests per secondOf the mean',
    'port 32507.0 %',
    'port 14760126.0 %',
  ])
  const link = screen.getByRole('link', { name: 'Shares now' }).getAttribute('href')
  expect(link).toContain('/advisors/fairness?')
  expect(link).toContain('of=flows')
  expect(screen.getByText('Members share the network unevenly.')).toBeTruthy()
})

test('a path whose measurements are no longer stored says so', async () => {
  const gone = {
    source: { id: 'v8', name: 'a-8' },
    target: { id: 'v9', name: 'b-9' },
    value: 1,
    usual: null,
    limit: null,
  }
  const { evidence } = incident()
  mockApi({
    'GET /v1/incidents/i': incident({ evidence: { ...evidence, impact: { ...IMPACT, worst: [gone] } } }),
    'GET /v1/meshes/m/paths/v8/v9/series': { ...SERIES, outbound: { ...SERIES.outbound, delay_ns: [null, null] } },
  })
  await showPage(<IncidentPage incidentId="i" />)
  expect(await screen.findByText(/No measurements of that time are stored\./)).toBeTruthy()
})
