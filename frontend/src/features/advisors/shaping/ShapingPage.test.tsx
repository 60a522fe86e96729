import { expect, test } from 'vitest'
import {
  type Answers,
  bodiesOf,
  recorded,
  reply,
  screen,
  signedIn,
  upload,
  userEvent,
  visitSearch,
} from '~/testing/page'
import { burstsOf, shapingSearch } from './question'
import { ShapingPage } from './ShapingPage'

const BURSTS = recorded('/v1/advisors/token-buckets', {}, 'post')
const FOUND = {
  ...{ ...BURSTS, capacity_mbit: null, trains_with_bucket: 0 },
  bucket: {
    ...{ rate_mbit: 1000, burst_kb: 100, mechanism: 'policer' },
    ...{ peak_mbit: null, loss: null, upper: null, metered: null, spread: null },
  },
  forecast: { tokens_kb: 100, empty_in_s: 0.0008, burst_mb: 0.2, full_in_s: 0, transfer_s: 8, safe_mbit: 1000 },
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
  ...recorded('/v1/meshes/{mesh_id}/retransmission-tails')[0],
  ...{ found: true, evidence: '12 of 900 minutes in 195 to 235 ms', share: 0.01, mean_cost_ms: 2 },
}
const TIMEOUTS = recorded('/v1/meshes/{mesh_id}/connection-timeouts', { vms: 4, vms_reporting: 1 })
const [WAITS] = TIMEOUTS.items
const peer = { peer_vm_id: 'w', peer_vm_name: 'db-1' }

const open = (answers: Answers) => visitSearch(ShapingPage, shapingSearch, answers)

const found = (trains: number) => {
  if (trains === 0) return FOUND
  if (trains === 1) return NONE
  return { ...FOUND, trains_with_bucket: 2, bucket: { ...FOUND.bucket, spread: SPREAD } }
}

test('a bucket has its forecast and what it means; bursts of a file replace it', async () => {
  const { sent } = await open({
    'POST /v1/advisors/token-buckets': ({ body }) => reply(200, found((body as { trains: unknown[] }).trains.length)),
    'GET /v1/token-buckets': [BUCKET, { ...BUCKET, vm_id: 'w', vm_name: 'web-2', forecast: null }],
    'GET /v1/meshes': [{ id: 'm', name: 'demo' }],
    'GET /v1/meshes/m/retransmission-tails': () => reply(200, [TAIL]),
    'GET /v1/meshes/m/connection-timeouts': { ...TIMEOUTS, items: [{ ...WAITS, ...peer }, TIMEOUTS.items[1]] },
  })
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
  expect(screen.getByText(WAITS?.evidence ?? '')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'db-1' }).getAttribute('href')).toBe('/vms/w')
  expect(screen.getByText('All others')).toBeTruthy()
  expect(await screen.findByText('Draining. Empty in 40 s at this rate')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'web-2' }).getAttribute('href')).toBe('/vms/w')
  expect(screen.getByText('no traffic of the last two minutes')).toBeTruthy()
  await upload('{}', 'other.json')
  expect(await screen.findByText(/Not a file of bursts/)).toBeTruthy()
  await upload(`[${' '.repeat(8 * 1024 ** 2)}]`, 'large.json')
  expect(await screen.findByText('large.json has 8.00 MiB. A file may have at most 8.00 MiB.')).toBeTruthy()
  await upload({ trains: TRAINS }, 'bursts.json')
  expect(await screen.findByText('1 bursts of bursts.json.')).toBeTruthy()
  expect(
    await screen.findByText(/The received rate did not fall during the bursts. Received at 940 Mbit\/s/),
  ).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/advisors/token-buckets').at(-1)).toMatchObject({ trains: TRAINS, rate_mbit: null })
  const three = JSON.stringify({ trains: [...TRAINS, ...TRAINS, ...TRAINS] })
  await upload(three, 'three.json')
  expect(
    await screen.findByText(/2 of 3 bursts show it, with rates of 980 Mbit\/s to 1010 Mbit\/s and depths of 91/),
  ).toBeTruthy()
})

const DUAL = {
  ...FOUND,
  bucket: {
    ...{ rate_mbit: 100, burst_kb: 5000, mechanism: 'shaper', peak_mbit: 400, loss: 0, metered: 'bytes' },
    upper: { rate_mbit: 400, burst_kb: 200 },
  },
}

test('a detected bucket is saved for the VM that sent the bursts with one click', async () => {
  const { sent } = await open({
    'POST /v1/advisors/token-buckets': () => reply(200, DUAL),
    ...signedIn({ role: 'editor' }),
    'GET /v1/token-buckets': [{ ...BUCKET, vm_id: 'v', vm_name: 'web-1' }],
    'GET /v1/vms': [
      { id: 'v', name: 'web-1' },
      { id: 'w', name: 'web-2' },
    ],
    'GET /v1/meshes': [],
    'PUT /v1/vms/w/token-bucket': () => reply(200, { ...BUCKET, vm_id: 'w', vm_name: 'web-2', source: 'detected' }),
  })
  await upload({ trains: TRAINS, sender: 'web-2' }, 'bursts.json')
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

test('a file that is no JSON has no bursts', () => {
  expect(burstsOf('x')).toBe(null)
  expect(burstsOf('{"trains": []}')).toBe(null)
  expect(burstsOf(JSON.stringify({ trains: TRAINS }))).toEqual({ trains: TRAINS, sender: null })
})
