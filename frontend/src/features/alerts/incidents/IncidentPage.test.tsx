import { expect, test } from 'vitest'
import type { Incident } from '~/api/incidents'
import { sentenceCase } from '~/lib/text'
import { incident } from '~/testing/incidents'
import { bodiesOf, reply, screen, userEvent, visit, within } from '~/testing/page'
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

async function showIncident(changes: Partial<Incident> = {}, more: object = {}) {
  const { sent, router } = await visit(<IncidentPage incidentId="i" />, {
    'GET /v1/incidents/i': incident(changes),
    'GET /v1/meshes/m/roster': ROSTER,
    'GET /v1/meshes/m/paths/v1/v2/series': SERIES,
    'GET /v1/deliveries': [],
    'POST /v1/silences': () => reply(201, {}),
    ...more,
  })
  await screen.findByRole('heading', { level: 1, name: sentenceCase(incident(changes).title) })
  return { sent, router }
}

test('an incident says what, where, how much over usual, since when, who suffers, why, and what to do first', async () => {
  const { sent } = await showIncident()
  const headline = screen.getByRole('region', { name: 'Summary' })
  expect(headline.textContent).toMatch(
    /^One-way delay, p50: 21\.0 µs → 412 µs \(\+391 µs, limit 36\.0 µs\) on 5 of 5 paths from a-1\.Since /,
  )
  expect(within(screen.getByRole('region', { name: 'Applications' })).getByText('18.0 points')).toBeTruthy()
  const href = (name: string) => screen.getByRole('link', { name }).getAttribute('href')
  expect(href('Heatmap at the onset')).toBe('/meshes/m?from=2026-11-23T10%3A32%3A00Z&select=v1')
  expect(href('Moves for checkout')).toBe('/recommendations?mesh=m&incident=i&application=a')
  const runbook = screen.getByRole('link', { name: 'Runbook: Delay above its baseline' })
  expect(runbook.getAttribute('href')).toBe('https://runbooks.example/slow')

  const suspects = within(screen.getByRole('region', { name: 'Suspects' }))
  const row = within(suspects.getByRole('row', { name: /^paths from a-1/ }))
  expect(row.getByRole('link').getAttribute('href')).toBe('/vms/v1')
  expect(row.getByText('5 of 5 affected paths')).toBeTruthy()
  const zones = await suspects.findByRole('link', { name: 'zone eu-1a to zone eu-1b' })
  await expect.poll(() => zones.getAttribute('href')).toBe(`/meshes/m?${TIME}&view=0%2C4%2C4`)
  const paths = within(screen.getByRole('region', { name: 'Paths with the largest change' }))
  expect(paths.getByRole('link', { name: 'a-1 → b-1' }).getAttribute('href')).toBe(`/meshes/m/paths/v1/v2?${TIME}`)
  expect(paths.getByText('+400 µs')).toBeTruthy()

  const name = 'One-way delay, p50 of a-1 → b-1 around the incident; usual 20.0 µs, limit 36.0 µs'
  expect((await screen.findByRole('img', { name })).dataset.limits).toBe('20000,36000')
  const request = sent.find(({ to }) => to === 'GET /v1/meshes/m/paths/v1/v2/series')
  expect(request?.query.get('statistic')).toBe('p50')
  expect(Date.parse(request?.query.get('from') ?? '')).toBeLessThan(Date.parse('2026-11-23T10:32:01Z'))
  expect(request?.query.get('to')).toBeNull()

  expect(screen.getByRole('heading', { name: 'The network changed.' })).toBeTruthy()
  const reasons = within(screen.getByRole('heading', { name: 'Reasons' }).closest('section') as HTMLElement)
  expect(reasons.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual(
    incident().figures.sentences.slice(1),
  )
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

test('the culprit is silenced for a while without leaving the page', async () => {
  const { sent } = await showIncident()
  await userEvent.click(await screen.findByRole('button', { name: '4 hours' }))
  await expect
    .poll(() => bodiesOf(sent, 'POST /v1/silences'))
    .toMatchObject([
      {
        matchers: [
          { label: 'mesh', value: 'm', negate: false },
          { label: 'suspect', value: 'egress', negate: false },
          { label: 'vm', value: 'v1', negate: false },
        ],
      },
    ])
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
})

test('who was told and when, and what is held until when', async () => {
  const delivery = { incident_id: 'i', receiver: 'on call', about: 'opened', attempts: 1, held: false, answer: null }
  const at = { due_at: '2026-11-23T10:42:20Z', sent_at: null, created_at: '2026-11-23T10:42:20Z' }
  const deliveries = [
    { ...delivery, ...at, id: 'd', state: 'sent', sent_at: '2026-11-23T10:42:25Z' },
    { ...delivery, ...at, id: 'e', state: 'failed', answer: '503 unavailable' },
    { ...delivery, ...at, id: 'f', state: 'waiting', held: true },
  ]
  await showIncident({}, { 'GET /v1/deliveries': deliveries })
  const told = within(await screen.findByRole('list', { name: 'Notifications' })).getAllByRole('listitem')
  const [sent, failed, held] = told.map(({ textContent }) => textContent)
  expect(sent).toMatch(/^on call opened: Sent .*10:42 UTC$/)
  expect(failed).toMatch(/^on call opened: Failed .* \(503 unavailable\)$/)
  expect(held).toMatch(/^on call opened: Held until .*10:42 UTC/)
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
    /^Lasted 12 min, from .* to .*\. The figures are those of its worst window, .*\. $/,
  )
  expect(screen.queryByRole('heading', { name: 'Value over time' })).toBeNull()
  expect(screen.getByText('No application communicates over the affected paths.')).toBeTruthy()
  expect(await screen.findByText(/^No receiver was notified: there is no default receiver/)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Receivers and routes' }).getAttribute('href')).toBe('/receivers')
  expect(screen.queryByRole('heading', { name: 'Similar earlier incidents' })).toBeNull()
})

test('a path whose measurements are no longer stored says so', async () => {
  const gone = { ...SERIES, outbound: { ...SERIES.outbound, delay_ns: [null, null] } }
  await showIncident({}, { 'GET /v1/meshes/m/paths/v1/v2/series': gone })
  expect(await screen.findByText(/No measurements of that time are stored\./)).toBeTruthy()
})
