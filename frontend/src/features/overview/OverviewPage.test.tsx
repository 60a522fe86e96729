import { expect, test } from 'vitest'
import type { MeshHealth } from '~/api/overview'
import { deviations, meshHealth, openIncident, pairs } from '~/testing/overview'
import { fail, hang, recorded, reply, screen, userEvent, visit, within } from '~/testing/page'
import { OverviewPage } from './OverviewPage'

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

const QUIET = { above_ns: 100_000, count: 0, first: [] }
const CALM = { silent: QUIET, copied: QUIET, outdated: { newest: '0.2.0', count: 0, first: [] }, clocks: QUIET }
const HOURS = Array.from({ length: 48 }, (_, at) => ({
  started_at: new Date(Math.floor(Date.now() / 3_600_000 - 47 + at) * 3_600_000).toISOString(),
  source: [10, 11].includes(at) ? 'eu-1a' : null,
  target: [10, 11].includes(at) ? 'eu-1b' : null,
  usual_ns: [10, 11].includes(at) ? 160_000 : null,
  change_ns: [10, 11].includes(at) ? 350_000 : null,
  loss: null,
}))
const HISTORY = { since: HOURS[0]?.started_at, hours: HOURS, incidents: [] }
const NO_APPLICATIONS = { total: 0, evaluated: 0, below_objective: 0, worst: [] }
const SAME = deviations(pairs(20_000, 300_000, 300_000, 20_000), pairs(20_000, 300_000, 300_000, 20_000))

/** Visit the overview of some meshes, with more answers. */
const open = (meshes: MeshHealth[], more: object = {}) =>
  visit(<OverviewPage />, {
    'GET /v1/overview': { meshes, attention: CALM },
    'GET /v1/overview/applications': NO_APPLICATIONS,
    'GET /v1/overview/findings': () => reply(200, []),
    ...Object.fromEntries(meshes.map(({ id }) => [`GET /v1/meshes/${id}/matrix`, SAME])),
    ...Object.fromEntries(meshes.map(({ id }) => [`GET /v1/overview/meshes/${id}/history`, HISTORY])),
    ...more,
  })

test('a healthy mesh is one sentence, and the other parts are one quiet line', async () => {
  await open([meshHealth({ last_incident_ended_at: ago(192), recent_incidents: [] })])
  const mesh = within(await screen.findByRole('region', { name: 'demo' }))
  expect(mesh.getByText('All 30 paths of demo measured; no open incidents.')).toBeTruthy()
  expect(mesh.getByText(/The last one ended at .* \(3 h ago\)\./)).toBeTruthy()
  expect(await mesh.findByText('Every zone pair is as usual.')).toBeTruthy()
  expect(within(screen.getByRole('region', { name: 'Open incidents' })).getByText('No open incidents.')).toBeTruthy()
  expect(await screen.findByText('No applications yet.')).toBeTruthy()
  expect(screen.queryByRole('region', { name: 'Needs attention' })).toBeNull()
})

test('before anything is measured, no part of the overview reads as if all were fine', async () => {
  const none = { reporting: 0, silent: 0, stopped: 0, enrolled: 0 }
  await open([meshHealth({ vms: 2, ended_at: null, agents: none, paths: { ...meshHealth().paths, planned: 0 } })])
  expect(await screen.findByText('Nothing is measured yet, so no incident can open.')).toBeTruthy()
  for (const calm of [/No open incidents/, /No findings/, /No silent agents/])
    expect(screen.queryByText(calm)).toBeNull()
})

test('a mesh that has just begun says that it learns, how long still, and what is not checked before', async () => {
  const learning = { ...meshHealth().learning, settling_paths: 30, settled_s: 190, unlearnt_paths: 30, learnt_s: 190 }
  const settled = { ...learning, settling_paths: 2, settled_s: 60, learnt_s: 480 }
  await open([meshHealth({ learning }), meshHealth({ id: 'n', name: 'next', learning: settled })])
  const mesh = within(await screen.findByRole('region', { name: 'demo' }))
  expect(mesh.getByText('Settling: 3 of 5 minutes.').parentElement?.textContent).toBe(
    'Settling: 3 of 5 minutes. 30 of 30 paths measured. Alert rules hold back until agents and clocks have settled.',
  )
  const next = within(screen.getByRole('region', { name: 'next' }))
  expect(next.getByText('All 30 paths of next measured; no open incidents.').parentElement?.textContent).toContain(
    '2 new paths raise no alerts until they were measured for 5 min. Alert rules know usual delays in 12 min;',
  )
})

test('findings of the advisors have their measurement and rule, and open the advisor with its question', async () => {
  const [finding] = recorded('/v1/overview/findings')
  const transport = { ...finding, mesh: { id: 'm', name: 'demo' }, source: 'a-1', target: 'b-1' }
  await open([meshHealth()], { 'GET /v1/overview/findings': () => reply(200, [transport]) })
  await userEvent.click(await screen.findByText('Findings of the advisors (1)'))
  const row = await screen.findByRole('row', { name: /Both VMs are on one host R1: source and destination/ })
  expect(within(row).getByRole('link').getAttribute('href')).toBe('/advisors/transport?mesh=m&source=a-1&target=b-1')
})

test('an incident is named with its age and cost, and leads to its paths', async () => {
  const incident = openIncident({
    onset_at: ago(17.5),
    applications: [{ id: 'a', name: 'checkout', performance: 0.82, cost: 0.18, objective: 0.9 }],
  })
  const cures = { application: { id: 'b', name: 'checkout' }, now: 0.16, after: 0.98 }
  const proposed = { id: 'r', moves: 2, total: null, cures }
  const { router } = await open([meshHealth({ open_incidents: 3, worst_incidents: [incident], proposed })])
  const mesh = within(await screen.findByRole('region', { name: 'demo' }))
  expect(mesh.getByText('Degraded').parentElement?.textContent).toMatch(
    /^Degraded since \d\d:\d\d UTC.* \(17 min\): delay increased from eu-1a to eu-1b, \+400 µs\. checkout is at 82\.0 % of its best \(objective 90\.0 %\): 18\.0 points lost\. 2 other open incidents\./,
  )
  expect(mesh.getByRole('link', { name: 'See 2 proposed moves: checkout 16.0 % → 98.0 %' })).toBeTruthy()
  await userEvent.click(mesh.getByRole('link', { name: 'See the paths' }))
  expect(router.state.location.href).toBe('/meshes/m?view=0%2C4%2C4')
})

test('a zone pair that changed shows its change, and opens its part of the heatmap', async () => {
  const changed = deviations(pairs(20_000, 700_000, 300_000, null), pairs(20_000, 300_000, 300_000, 20_000))
  const { router } = await open([meshHealth()], { 'GET /v1/meshes/m/matrix': changed })
  const table = within(
    await screen.findByRole('table', { name: 'Change of the one-way delay from usual by zone pair of demo' }),
  )
  expect(table.getAllByRole('cell').map(({ textContent }) => textContent)).toEqual(['', '+400 µs', '', ''])
  expect(
    table.getByRole('link', { name: 'eu-1b to eu-1b: no whole minute of measurements in the last 5 min' }),
  ).toBeTruthy()
  await userEvent.click(table.getByRole('link', { name: 'eu-1a to eu-1b: p50 700 µs, +400 µs from usual (+133 %)' }))
  expect(router.state.location.href).toBe('/meshes/m?view=0%2C4%2C4')
})

test('what incidents cost is said of all of them, and who was told of each', async () => {
  const loses = (name: string, cost: number) => [{ id: name, name, performance: 1 - cost, cost, objective: null }]
  const idle = openIncident({ id: 'idle', receivers_notified: 0, onset_at: ago(5) })
  const costly = openIncident({ id: 'costly', title: 'vm slow', applications: loses('checkout', 0.84) })
  const calm = meshHealth({ id: 'n', name: 'next', open_incidents: 1, worst_incidents: [idle] })
  await open([calm, meshHealth({ open_incidents: 2, worst_incidents: [costly, { ...idle, id: 'other' }] })])
  const first = within(await screen.findByRole('region', { name: 'demo' }))
  expect(first.getByText('checkout is at 16.0 % of its best: 84.0 points lost.')).toBeTruthy()
  expect(screen.getByText('No application of next loses performance.')).toBeTruthy()
  const rows = within(screen.getByRole('region', { name: 'Open incidents' }))
    .getAllByRole('row')
    .slice(1)
  expect(rows.map((row) => within(row).getAllByRole('cell').at(-1)?.textContent)).toEqual(['1', 'nobody', 'nobody'])
})

test('the days are one stop of the Tab key, and a changed hour opens the zone pairs of its time', async () => {
  const { router } = await open([meshHealth()])
  const days = await screen.findByRole('slider', { name: 'Worst change of each hour of demo, last 30 days' })
  days.focus()
  await userEvent.keyboard('{PageDown}')
  expect(days.getAttribute('aria-valuetext')).toMatch(/: eu-1a → eu-1b \+350 µs \(usually 160 µs\)$/)
  await userEvent.keyboard('{Enter}')
  const until = new Date(Date.parse(HOURS[11]?.started_at ?? '') + 3_600_000).toISOString()
  expect(router.state.location.pathname).toBe('/meshes/m')
  expect(router.state.location.search).toMatchObject({
    by: 'zone',
    metric: 'deviation',
    from: HOURS[10]?.started_at,
    until,
  })
})

test('zone pairs of many meshes are compared when they are opened', async () => {
  const { sent } = await open(['a', 'b', 'c', 'd'].map((id) => meshHealth({ id, name: `mesh ${id}` })))
  expect(await screen.findAllByText('Every zone pair is as usual.')).toHaveLength(1)
  const compared = () => sent.filter(({ to }) => to.endsWith('/matrix')).map(({ to }) => to.split('/')[3])
  expect(compared().toSorted()).toEqual(['a', 'b', 'c'])
  await userEvent.click(
    within(screen.getByRole('region', { name: 'mesh d' })).getByText('Change from usual, zone to zone'),
  )
  await expect.poll(() => screen.queryAllByText('Every zone pair is as usual.').length).toBe(2)
  expect(compared()).toContain('d')
})

test('a new mesh names the next step and shows no strip', async () => {
  const paths = { planned: 0, measured: 0, lost: 0, stale: 0, no_data: 0, no_service: 0 }
  const agents = { reporting: 0, silent: 0, stopped: 0, enrolled: 0 }
  const { router } = await open([meshHealth({ vms: 0, zones: [], paths, agents, ended_at: null })])
  const mesh = within(await screen.findByRole('region', { name: 'demo' }))
  expect(mesh.getByText('No VMs in demo yet.')).toBeTruthy()
  expect(mesh.queryByRole('slider')).toBeNull()
  await userEvent.click(mesh.getByRole('link', { name: 'Add a VM' }))
  expect(router.state.location.href).toBe('/onboarding?mesh=m')
})

test('applications and agents that need attention are links', async () => {
  const DAY = { step_s: 900, points_at: [ago(30), ago(15)], performance: [0.96, 0.94], usual: 0.95 }
  const application = { id: 'a', name: 'checkout', mesh: { id: 'm', name: 'demo' }, links: 3, measured: 3, day: DAY }
  const ranking = {
    ...{ total: 300, evaluated: 200, below_objective: 1 },
    worst: [
      { ...application, performance: 0.78, objective: 0.9, below_objective: true },
      { ...application, id: 'b', name: 'cache', performance: 0.95, objective: 0.9, below_objective: false },
    ],
  }
  const vm = (name: string) => ({ id: name, name })
  const attention = {
    silent: { count: 7, first: [{ vm: vm('c-1'), seen_at: ago(4) }] },
    copied: { count: 1, first: [{ vm: vm('c-4'), seen_at: ago(1) }] },
    outdated: { newest: '0.2.0', count: 1, first: [{ vm: vm('c-2'), agent_version: '0.1.0' }] },
    clocks: { above_ns: 100_000, count: 1, first: [{ vm: vm('c-3'), clock_error_ns: 250_000 }] },
  }
  await open([meshHealth()], {
    'GET /v1/overview': { meshes: [meshHealth()], attention },
    'GET /v1/overview/applications': ranking,
    'GET /v1/contracts': () => reply(200, [{ application: { id: 'b' }, kept: 0.992, budget_left_s: 60 }]),
  })
  await screen.findByRole('row', { name: /^cache .* 90\.0 % kept 99\.2 %$/ })
  const row = await screen.findByRole('row', {
    name: 'checkout 78.0 % 95.0 % checkout: last 24 hours, usually 95.0 % 90.0 % missed',
  })
  expect(within(row).getByRole('link', { name: 'checkout' }).getAttribute('href')).toBe('/applications/a')
  expect(screen.getByText('The first 200 of 300 applications are compared.')).toBeTruthy()
  const needs = within(screen.getByRole('region', { name: 'Needs attention' }))
  expect(needs.getByText('7 silent agents')).toBeTruthy()
  expect(needs.getByRole('link', { name: 'and 6 more' })).toBeTruthy()
  expect(needs.getByText('1 agent older than 0.2.0')).toBeTruthy()
  expect(needs.getByText(/± 250 µs/)).toBeTruthy()
  expect(needs.getByRole('link', { name: 'c-3' }).getAttribute('href')).toBe('/vms/c-3')
})

test('a heading is there while the overview loads; the parts follow together', async () => {
  await open([], { 'GET /v1/overview': hang, 'GET /v1/overview/applications': hang })
  expect(await screen.findByRole('heading', { level: 1, name: 'Overview' })).toBeTruthy()
  const names = screen.getAllByRole('heading', { level: 2 }).map(({ textContent }) => textContent)
  expect(names).toEqual(['Meshes'])
})

test('failed applications leave the meshes as they are, and are tried again', async () => {
  let failures = 1
  await open([meshHealth()], {
    'GET /v1/overview/applications': () => (failures-- > 0 ? fail(500, 'Out of disk.') : reply(200, NO_APPLICATIONS)),
  })
  const card = within(await screen.findByRole('region', { name: 'Applications, worst first' }))
  expect((await card.findByRole('alert')).textContent).toContain('Out of disk.')
  expect(await screen.findByText('All 30 paths of demo measured; no open incidents.')).toBeTruthy()
  await userEvent.click(card.getByRole('button', { name: 'Try again' }))
  expect(await card.findByText('No applications yet.')).toBeTruthy()
})
