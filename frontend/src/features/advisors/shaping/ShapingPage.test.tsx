import { useState } from 'react'
import { expect, test } from 'vitest'
import { bodiesOf, mockApi, reply, screen, showPage, userEvent } from '~/testing/page'
import { burstsOf, type ShapingSearch, shapingSearch } from './question'
import { ShapingPage } from './ShapingPage'

const FOUND = {
  bucket: {
    rate_mbit: 1000,
    burst_kb: 100,
    mechanism: 'policer',
    peak_mbit: null,
    loss: null,
    upper: null,
    metered: null,
    spread: null,
  },
  reason: null,
  capacity_mbit: null,
  trains_with_bucket: 0,
  forecast: {
    tokens_kb: 100,
    empty_in_s: 0.0008,
    burst_mb: 0.2,
    full_in_s: 0,
    transfer_s: 8,
    safe_mbit: 1000,
  },
  checks: [{ id: 'C2', effect: 'Reads have a tail.', remedy: 'Pace.', caveat: 'Single runs.' }],
}
const SPREAD = { bursts: 3, rate_min_mbit: 980, rate_max_mbit: 1010, burst_min_kb: 91, burst_max_kb: 100 }
const NONE = { ...FOUND, bucket: null, forecast: null, reason: 'one_rate', capacity_mbit: 940, checks: [] }
const TRAINS = [{ packet_bytes: 1442, sent_ns: [1, 2], received_ns: [5, null] }]
const BUCKET = {
  ...{ vm_id: 'v', vm_name: 'web-1', direction: 'sent', rate_mbit: 100, burst_kb: 125_000, source: 'stated' },
  forecast: {
    ...{ use_mbit: 120, level: 'draining', tokens_kb: 100_000, tokens_min_kb: 9e4, tokens_max_kb: 1e5 },
    ...{ empty_in_s: 40, full_in_s: null },
  },
}
const TAIL = {
  metric_source_id: 's',
  name: 'p99',
  minutes: 900,
  started_at: '2026-11-20T10:00:00Z',
  ended_at: '2026-11-21T10:00:00Z',
  found: true,
  evidence: '12 of 900 minutes in 195 to 235 ms',
  share: 0.01,
  mean_cost_ms: 2,
}

const WAITS = {
  ...{ started_at: '2026-11-20T10:00:00Z', ended_at: '2026-11-21T10:00:00Z', vms: 4, vms_reporting: 1 },
  items: [
    {
      ...{ vm_id: 'v', vm_name: 'web-1', peer_vm_id: 'w', peer_vm_name: 'db-1', found: true, stall_ms: 210 },
      evidence: '5 timeouts, 5 of 195 to 235 ms; 10 of 1000 segments sent again',
    },
    {
      ...{ vm_id: 'v', vm_name: 'web-1', peer_vm_id: null, peer_vm_name: null, found: false, stall_ms: null },
      evidence: '0 timeouts, 0 of 195 to 235 ms; 0 of 90 segments sent again',
    },
  ],
}

function Harness() {
  const [search, setSearch] = useState<ShapingSearch>({})
  return <ShapingPage search={search} onSearch={(patch) => setSearch((old) => shapingSearch({ ...old, ...patch }))} />
}

const found = (trains: number) => {
  if (trains === 0) return FOUND
  if (trains === 1) return NONE
  return { ...FOUND, trains_with_bucket: 2, bucket: { ...FOUND.bucket, spread: SPREAD } }
}

test('a bucket has its forecast and what it means; bursts of a file replace it', async () => {
  const sent = mockApi({
    'POST /v1/advisors/token-buckets': ({ body }) => reply(200, found((body as { trains: unknown[] }).trains.length)),
    'GET /v1/token-buckets': [BUCKET, { ...BUCKET, vm_id: 'w', vm_name: 'web-2', forecast: null }],
    'GET /v1/meshes': () => reply(200, { items: [{ id: 'm', name: 'demo' }], next_cursor: null }),
    'GET /v1/meshes/m/retransmission-tails': () => reply(200, [TAIL]),
    'GET /v1/meshes/m/connection-timeouts': () => reply(200, WAITS),
  })
  await showPage(<Harness />)
  expect(
    await screen.findByText('1000 Mbit/s with a depth of 100 kB; packets beyond it are dropped (policer)'),
  ).toBeTruthy()
  expect(screen.getByText(/Empty in 800 µs at 2000 Mbit\/s, from full. Full again after 800 µs/)).toBeTruthy()
  expect(screen.getByText('The bucket as entered')).toBeTruthy()
  expect(screen.getByText(/Nothing was measured/)).toBeTruthy()
  expect(screen.getByText(/1000 MB take 8.00 s from a full bucket, on a line of 10 Gbit\/s/)).toBeTruthy()
  expect(screen.getByText('C2: Reads have a tail.')).toBeTruthy()
  expect(await screen.findByText('12 of 900 minutes in 195 to 235 ms')).toBeTruthy()
  expect(await screen.findByText(/from 1 of 4 VMs/)).toBeTruthy()
  expect(screen.getByText('5 timeouts, 5 of 195 to 235 ms; 10 of 1000 segments sent again')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'db-1' }).getAttribute('href')).toBe('/vms/w')
  expect(screen.getByText('All others')).toBeTruthy()
  expect(await screen.findByText('Draining. Empty in 40 s at this rate')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'web-2' }).getAttribute('href')).toBe('/vms/w')
  expect(screen.getByText('no traffic of the last two minutes')).toBeTruthy()
  const input = document.querySelector('input[type=file]') as HTMLInputElement
  await userEvent.upload(input, new File(['{}'], 'other.json', { type: 'application/json' }))
  expect(await screen.findByText(/Not a file of bursts/)).toBeTruthy()
  await userEvent.upload(
    input,
    new File([JSON.stringify({ trains: TRAINS })], 'bursts.json', { type: 'application/json' }),
  )
  expect(await screen.findByText('1 bursts of bursts.json.')).toBeTruthy()
  expect(
    await screen.findByText(/The received rate did not fall during the bursts. Received at 940 Mbit\/s/),
  ).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/advisors/token-buckets').at(-1)).toMatchObject({ trains: TRAINS, rate_mbit: null })
  const three = JSON.stringify({ trains: [...TRAINS, ...TRAINS, ...TRAINS] })
  await userEvent.upload(input, new File([three], 'three.json', { type: 'application/json' }))
  expect(
    await screen.findByText(/2 of 3 bursts show it, with rates of 980 Mbit\/s to 1010 Mbit\/s and depths of 91/),
  ).toBeTruthy()
})

const EDITOR = {
  ...{ user: { id: 'u', email: 'a@b.c' }, tenant: { id: 't', name: 'T' }, role: 'editor' },
  ...{ csrf_token: 'c', second_factor_due: false },
}
const DUAL = {
  ...FOUND,
  bucket: {
    ...{ rate_mbit: 100, burst_kb: 5000, mechanism: 'shaper', peak_mbit: 400, loss: 0, metered: 'bytes' },
    upper: { rate_mbit: 400, burst_kb: 200 },
  },
}

test('a detected bucket is saved for the VM that sent the bursts with one click', async () => {
  const sent = mockApi({
    'POST /v1/advisors/token-buckets': () => reply(200, DUAL),
    'GET /v1/auth/status': { session: EDITOR },
    'GET /v1/token-buckets': [{ ...BUCKET, vm_id: 'v', vm_name: 'web-1' }],
    'GET /v1/vms': [
      { id: 'v', name: 'web-1' },
      { id: 'w', name: 'web-2' },
    ],
    'GET /v1/meshes': () => reply(200, { items: [], next_cursor: null }),
    'PUT /v1/vms/w/token-bucket': () => reply(200, { ...BUCKET, vm_id: 'w', vm_name: 'web-2', source: 'detected' }),
  })
  await showPage(<Harness />)
  const input = document.querySelector('input[type=file]') as HTMLInputElement
  await userEvent.upload(
    input,
    new File([JSON.stringify({ trains: TRAINS, sender: 'web-2' })], 'bursts.json', { type: 'application/json' }),
  )
  expect(await screen.findByText(/Above it a second bucket: 400 Mbit\/s with a depth of 200 kB/)).toBeTruthy()
  expect(screen.getByText(/It counts bytes/)).toBeTruthy()
  expect(((await screen.findByLabelText('VM')) as HTMLSelectElement).value).toBe('w')
  await userEvent.click(screen.getByRole('button', { name: 'Save as its token bucket' }))
  expect(await screen.findByText('Saved as the token bucket of web-2')).toBeTruthy()
  expect(screen.getByText(/Draining. Empty in 40 s at this rate\./)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'See web-2' }).getAttribute('href')).toBe('/vms/w')
  expect(bodiesOf(sent, 'PUT /v1/vms/w/token-bucket')).toEqual([
    { rate_mbit: 100, burst_kb: 5000, direction: 'sent', source: 'detected' },
  ])
  await userEvent.selectOptions(screen.getByLabelText('VM'), 'v')
  expect(screen.getByText('Replaces 100 Mbit/s, 125 MB.')).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Replace its token bucket' })).toBeTruthy()
})

test.each([
  [['shaping-lab'], 1],
  [[], 0],
])('with the laboratories %j, %i panels take a study', async (labs, panels) => {
  mockApi({ 'GET /v1/about': { labs } })
  await showPage(<Harness />)
  await expect.poll(() => screen.queryAllByRole('heading', { name: 'Shaping lab' }).length).toBe(panels)
})

test('a file that is no JSON has no bursts', () => {
  expect(burstsOf('x')).toBe(null)
  expect(burstsOf('{"trains": []}')).toBe(null)
  expect(burstsOf(JSON.stringify({ trains: TRAINS }))).toEqual({ trains: TRAINS, sender: null })
})
