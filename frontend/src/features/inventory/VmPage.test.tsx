import { expect, test, vi } from 'vitest'
import { bodiesOf, fail, refuse, reply, type Sent } from '~/testing/api'
import { budget, share } from '~/testing/budgets'
import { fill, recorded, rowsOf, screen, userEvent, visit, within } from '~/testing/page'
import { VmPage } from './VmPage'

const named = (id: string, name = id) => ({ id, name })

const [PATHS] = recorded('/v1/vms/{vm_id}/paths').meshes
const SINCE = {
  ...{ onset_at: '2026-11-20T10:42:00Z', is_onset_known: true },
  last_hour: { points_at: ['2026-11-20T10:41:00Z', '2026-11-20T10:42:00Z'], delay_ns: [80_000, 280_000] },
}
const path = (source: string, target: string, change: number | null) => ({
  ...{ ...PATHS?.outbound.worst[0], source: named(source), target: named(target), value_ns: 280_000, loss: 0.015 },
  ...{ baseline_ns: change === null ? null : 80_000, deviation_ns: change },
  is_unusual: change === null ? null : change > 100_000,
  since: change !== null && change > 100_000 ? SINCE : null,
})

const direction = (worst: object[]) => ({
  ...{ paths: 29, measured: 28, lost: 1, unusual: 1, lossy: 2, median_ns: 81_000 },
  worst,
})

const ANSWERS = {
  'GET /v1/vms/web': recorded('/v1/vms/{vm_id}', {
    ...{ ...named('web', 'web-1'), zone: named('z', 'eu-1a'), labels: { rack: 'r1' }, version: 3, agent: null },
  }),
  'GET /v1/zones': [named('z', 'eu-1a'), named('y', 'eu-1b')],
  'GET /v1/vms/web/capacity': recorded('/v1/vms/{vm_id}/capacity', {
    ...{ vm: named('web', 'web-1'), slots: 4, slots_taken: 3, memory_mib: 8192, price_per_hour: '0.085000' },
  }),
  'GET /v1/vms/web/paths': {
    vm_id: 'web',
    meshes: [
      {
        mesh: named('m', 'production'),
        clock_error_ns: 900,
        outbound: direction([path('web', 'db', 200_000), path('web', 'cache', 1_000)]),
        inbound: direction([path('db', 'web', null)]),
      },
    ],
  },
  'GET /v1/vms/web/clock-errors': { meshes: [clocks([900, null, 1_100], [2_000, null, 4_000])] },
  'GET /v1/vms/web/host-waits': hostWaits([79, null, 50_000], 0.25),
  'GET /v1/vms/web/traffic': traffic([12e6, null, 9e6], [1e6, null, 5e5]),
  'GET /v1/vms/web/token-bucket': () => reply(404, { code: 'token_bucket_unknown', detail: 'Unknown token bucket.' }),
  'GET /v1/meshes/m/path-costs': ({ query }: Sent) =>
    reply(200, {
      items: query.getAll('selections').map((selection) => ({
        selection,
        applications: 1,
        worst: { ...named('a', 'checkout'), cost: 0.0412 },
      })),
    }),
  'GET /v1/meshes/m/latency-budgets': ({ query }: Sent) =>
    reply(200, { items: query.getAll('selections').map(budgetOf), reference: [], published_source: 'table 4.3' }),
  'GET /v1/applications': [
    { ...named('a', 'checkout'), mesh: named('m', 'production'), tasks: [{ name: 'front', vm: named('web') }] },
    { ...named('b', 'other'), mesh: named('m', 'production'), tasks: [{ name: 'x', vm: null }] },
  ],
  'GET /v1/incidents': [
    incident('i', 'Delay at web-1', 'm', 'egress', 'web'),
    incident('j', 'Delay at db', 'm', 'egress', 'db'),
    incident('k', 'The mesh elsewhere', 'n', 'mesh', null),
  ],
}

function budgetOf(selection: string) {
  return budget([share('base', 60)], selection === 'from:web' ? 20 : 30, 90, { selection, title: selection, paths: 28 })
}

function clocks(median_ns: (number | null)[], largest_ns: (number | null)[]) {
  const points_at = median_ns.map((_, at) => `2026-11-20T10:4${at}:00Z`)
  return { mesh: named('m', 'production'), resolution_s: 60, points_at, paths: [], median_ns, largest_ns }
}

function hostWaits(p99_us: (number | null)[], stalled: number | null) {
  const none = p99_us.map(() => null)
  const series = (values: (number | null)[]) => ({ count: none, p50_us: none, p99_us: values, max_us: none })
  const shares = p99_us.map((value) => (value === null ? null : stalled))
  return recorded('/v1/vms/{vm_id}/host-waits', {
    ...{ resolution_s: 10, points_at: p99_us.map((_, at) => `2026-11-20T10:40:${at}0Z`) },
    ...{ wake: series(p99_us), receive: series(p99_us), send: series(none), queue: series(none) },
    ...{ stalled_ratio: shares, steal_ratio: none, pressure_ratio: shares, throttled_ratio: none },
  })
}

function traffic(sent: (number | null)[], received: (number | null)[], name: string | null = 'eth0') {
  return {
    ...{ vm_id: 'web', interface: name, resolution_s: 10, sent_bit_per_s: sent, received_bit_per_s: received },
    points_at: sent.map((_, at) => `2026-11-20T10:40:${at}0Z`),
  }
}

const BUCKET = recorded('/v1/vms/{vm_id}/token-bucket', {
  version: 3,
  forecast: {
    ...{ at: '2026-11-20T10:41:00Z', use_mbit: 120, level: 'draining', full_in_s: null },
    ...{ tokens_kb: 100_000, tokens_min_kb: 90_000, tokens_max_kb: 110_000 },
    ...{ empty_in_s: 40, empty_in_min_s: 36, empty_in_max_s: 44 },
  },
})

function incident(id: string, title: string, mesh: string, suspect: string, at: string | null) {
  return {
    ...{ id, title, mesh: named(mesh), severity: 'warning', onset_at: '2026-11-20T10:00:00Z', ended_at: null },
    culprit: { suspect, at: at && named(at), other: null },
  }
}

const open = (more = {}, address?: string) => visit(<VmPage vmId="web" />, { ...ANSWERS, ...more }, address)

test('a VM without planned paths says so instead of counting none', async () => {
  const none = { paths: 0, measured: 0, lost: 0, unusual: 0, lossy: 0, median_ns: null, worst: [] }
  const meshes = [{ mesh: named('production'), clock_error_ns: null, outbound: none, inbound: none }]
  await open({ 'GET /v1/vms/web/paths': { meshes } })
  expect(await screen.findAllByText(/^No path is planned: neither this VM/)).toHaveLength(2)
  expect(screen.queryByText(/of 0 paths/)).toBeNull()
})

test('a VM shows its row and its column, each peer a link to the path, its applications and incidents', async () => {
  await open()
  expect(await screen.findByRole('heading', { name: 'Paths in production' })).toBeTruthy()
  expect(screen.getByText(/^now: ± 900 ns/)).toBeTruthy()
  expect(screen.getAllByText('28 of 29 paths measured, median p50 81.0 µs; 1 unusual, 3 with loss.')).toHaveLength(2)
  expect(await rowsOf('Outbound, worst first')).toEqual([
    expect.stringMatching(/^db280 µs80.0 µs\+200 µs1.50 %.*since .*10:42 UTCcheckout −4.1 points$/),
    'cache280 µs80.0 µsas usual1.50 %––',
  ])
  expect(await rowsOf('Inbound, worst first')).toEqual(['db280 µs––1.50 %––'])
  expect(screen.getByRole('img', { name: /^risen from 80.0 µs to 280 µs since / })).toBeTruthy()
  expect(screen.getByRole('link', { name: 'checkout −4.1 points' }).getAttribute('href')).toBe('/applications/a')
  const [out, into] = screen.getAllByRole('link', { name: 'db' })
  expect(out?.getAttribute('href')).toBe('/meshes/m/paths/web/db')
  expect(into?.getAttribute('href')).toBe('/meshes/m/paths/db/web')
  expect(await rowsOf('Applications on this VM')).toEqual(['checkoutfrontproduction'])
  const incidents = await rowsOf('Incidents')
  expect(incidents).toHaveLength(1)
  expect(incidents[0]).toMatch(/^Delay at web-1Warning/)
})

const panelOf = async (name: string) =>
  within((await screen.findByRole('heading', { name })).parentElement as HTMLElement)

test('clock errors, traffic and waits of a VM are charts in words, and the budget says where delays come from', async () => {
  await open()
  const clocks = await panelOf('Clock error')
  const errors = 'Median of paths 900 ns to 1.10 µs; Largest of paths 2.00 µs to 4.00 µs'
  expect(await clocks.findByRole('img', { name: `Clock error in production over time: ${errors}` })).toBeTruthy()
  expect(clocks.getByText('One point every 1 min.')).toBeTruthy()

  const sent = await panelOf('Traffic')
  const rates = 'Sent 9.00 Mbit/s to 12.0 Mbit/s; Received 500 kbit/s to 1.00 Mbit/s'
  expect(await sent.findByRole('img', { name: `Traffic over time: ${rates}` })).toBeTruthy()
  expect(sent.getByRole('heading', { name: 'Interface eth0' })).toBeTruthy()

  // What is not available is no zero.
  const waits = await panelOf('Waiting on the host')
  const late = '79.0 µs to 50.0 ms'
  const parts = `Wake-ups late by ${late}; Kernel to program ${late}; Program to driver not available; Own queue not available`
  expect(await waits.findByRole('img', { name: `Waits on the host over time: ${parts}` })).toBeTruthy()
  const value = (name: string) => waits.getByText(name).nextElementSibling?.textContent
  expect(value('Waited for a processor')).toBe('25.0 %')
  expect(value('Stolen by the hypervisor')).toBe('not available')

  expect(screen.getByRole('heading', { name: 'Latency budget in production' })).toBeTruthy()
  const sentences = (await screen.findAllByText(/^Of the /)).map((sentence) => sentence.textContent)
  expect(sentences[0]).toMatch(/^Of the 80\.0 µs at the median, 60\.0 µs is the lowest .* median over 28 paths\.$/)
  expect(sentences[1]).toMatch(/^Of the 90\.0 µs at the median/)
})

test('what was not measured or reported in that time gets a sentence instead of a chart', async () => {
  await open({
    'GET /v1/vms/web/clock-errors': { meshes: [clocks([null, null], [null, null])] },
    'GET /v1/vms/web/host-waits': hostWaits([null], null),
    'GET /v1/vms/web/traffic': traffic([null], [null], null),
  })
  for (const [name, words] of [
    ['Clock error', 'No paths from this VM were measured in this time.'],
    ['Waiting on the host', /^No waits reported in this time\./],
    ['Traffic', /^No traffic reported in this time\./],
  ] as const) {
    const panel = await panelOf(name)
    expect(await panel.findByText(words)).toBeTruthy()
    expect(panel.queryByRole('img')).toBeNull()
  }
})

test('the range in the address is that of the clock errors', async () => {
  const { sent } = await open({}, '/?from=2026-11-20T08:00:00.000Z&until=2026-11-20T09:00:00.000Z')
  await (await panelOf('Clock error')).findByRole('img')
  const asked = sent.find(({ to }) => to === 'GET /v1/vms/web/clock-errors')?.query
  expect([asked?.get('from'), asked?.get('to')]).toEqual(['2026-11-20T08:00:00.000Z', '2026-11-20T09:00:00.000Z'])
})

test('a token bucket says when it is empty at this rate, with what is sure', async () => {
  await open({ 'GET /v1/vms/web/token-bucket': BUCKET })
  const panel = await panelOf('Token bucket')
  expect(await panel.findByText('Draining. Empty in 40 s at this rate')).toBeTruthy()
  expect(panel.getByText(/^100 MB of 125 MB \(80 %\), between 90\.0 MB and 110 MB/)).toBeTruthy()
  expect(panel.getByText('120 Mbit/s, rate 100 Mbit/s')).toBeTruthy()
})

test('a token bucket is stated, and a refusal stands at its field', async () => {
  const { sent } = await open({
    'PUT /v1/vms/web/token-bucket': ({ body }: Sent) =>
      (body as { burst_kb: number }).burst_kb < 1000 ? refuse('burst_kb', 'is too small') : reply(200, BUCKET),
  })
  const panel = await panelOf('Token bucket')
  await userEvent.type(await panel.findByLabelText(/^Rate/), '100')
  await userEvent.type(panel.getByRole('spinbutton', { name: /^Depth/ }), '20')
  await userEvent.click(panel.getByRole('button', { name: 'Set' }))
  expect(await panel.findAllByText(/is too small/)).not.toHaveLength(0)
  await fill(panel.getByRole('spinbutton', { name: /^Depth/ }), '125000')
  await userEvent.click(panel.getByRole('button', { name: 'Set' }))
  await vi.waitFor(() => expect(bodiesOf(sent, 'PUT /v1/vms/web/token-bucket')).toHaveLength(2))
  expect(bodiesOf(sent, 'PUT /v1/vms/web/token-bucket').at(-1)).toEqual({
    ...{ rate_mbit: 100, burst_kb: 125_000, direction: 'sent', source: 'stated' },
  })
})

test('a line that is no label is named and not sent; then only what was changed is sent', async () => {
  const { sent } = await open({ 'PATCH /v1/vms/web': ANSWERS['GET /v1/vms/web'] })
  const panel = await panelOf('Name, zone and labels')
  await userEvent.type(panel.getByLabelText('Labels'), '\nenvironment')
  await userEvent.click(panel.getByRole('button', { name: 'Save' }))
  expect(panel.getByText('Write name=value, each name once: “environment”')).toBeTruthy()
  expect(bodiesOf(sent, 'PATCH /v1/vms/web')).toEqual([])
  await userEvent.type(panel.getByLabelText('Labels'), '=production')
  await userEvent.click(panel.getByRole('button', { name: 'Save' }))
  expect(await panel.findByText('Saved.')).toBeTruthy()
  expect(bodiesOf(sent, 'PATCH /v1/vms/web')).toEqual([{ labels: { rack: 'r1', environment: 'production' } }])
})

test('the capacity of a VM is shown and changed, what is emptied is removed', async () => {
  const { sent } = await open({ 'PATCH /v1/vms/web/capacity': () => reply(200, { slots: 8 }) })
  expect(await screen.findByText('3 of 4 slots taken by tasks of applications.')).toBeTruthy()
  const slots = screen.getByLabelText<HTMLInputElement>('Slots')
  expect(screen.getByLabelText<HTMLInputElement>('Price per hour').value).toBe('0.085')
  await fill(slots, '8')
  await userEvent.clear(screen.getByLabelText('Memory (MiB)'))
  await userEvent.click(screen.getByRole('button', { name: 'Save capacity' }))
  await expect.poll(() => bodiesOf(sent, 'PATCH /v1/vms/web/capacity')).toEqual([{ slots: 8, memory_mib: null }])
  expect(await screen.findByText('Saved. The next recommendation uses it.')).toBeTruthy()
})

test('a capacity that another person changed meanwhile is not overwritten, and what is typed stays', async () => {
  const read = ANSWERS['GET /v1/vms/web/capacity']
  let stored = read
  const { sent } = await open({
    'GET /v1/vms/web/capacity': () => reply(200, stored),
    'PATCH /v1/vms/web/capacity': ({ headers }: Sent) =>
      headers.get('If-Match') === `"${stored.version}"` ? reply(200, stored) : fail(412, 'Version changed.'),
  })
  const field = await screen.findByLabelText<HTMLInputElement>('Slots')
  await fill(field, '8')
  stored = { ...read, slots: 6, version: 2 }
  await userEvent.click(screen.getByRole('button', { name: 'Save capacity' }))
  expect(await screen.findByText('Slots: 4 → 6')).toBeTruthy()
  expect(field.value).toBe('8')
  await userEvent.click(screen.getByRole('button', { name: 'Keep my entries' }))
  await userEvent.click(screen.getByRole('button', { name: 'Save capacity' }))
  await expect.poll(() => bodiesOf(sent, 'PATCH /v1/vms/web/capacity')).toEqual([{ slots: 8 }, { slots: 8 }])
})

test('a token bucket that another person removed meanwhile is not set again unseen', async () => {
  let isRemoved = false
  const none = () => reply(404, { code: 'token_bucket_unknown', detail: 'The VM has no token bucket.' })
  const { sent } = await open({
    'GET /v1/vms/web/token-bucket': () => (isRemoved ? none() : reply(200, BUCKET)),
    'PUT /v1/vms/web/token-bucket': () => fail(412, 'Version changed.'),
  })
  const panel = await panelOf('Token bucket')
  const depth = panel.getByRole<HTMLInputElement>('spinbutton', { name: /Depth/ })
  await fill(depth, '777')
  isRemoved = true
  await userEvent.click(panel.getByRole('button', { name: 'Change' }))
  expect(await panel.findByText(new RegExp(`${BUCKET.rate_mbit} → empty`))).toBeTruthy()
  expect(panel.getByRole<HTMLInputElement>('spinbutton', { name: /Depth/ }).value).toBe('777')
  expect(sent.find(({ to }) => to === 'PUT /v1/vms/web/token-bucket')?.headers.get('If-Match')).toBe('"3"')
})
