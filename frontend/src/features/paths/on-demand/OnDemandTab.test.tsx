import { useState } from 'react'
import { expect, test } from 'vitest'
import { type Answers, recordedItem, screen, userEvent, visit, waitFor, within } from '~/testing/page'
import { OnDemandTab } from './OnDemandTab'

// The chart needs a size and a canvas; what is around it is tested here.
const ID = '6f1f3b1e-8f5b-4d0a-9f38-0d6a35a0b9c1'
const end = (id: string, name: string) => ({ id, name, zone_name: 'eu-1a' })

const summary = (p50: number, more = {}) => ({
  ...{ measured: 128, lost: 0, unknown: 0, min_ns: p50 - 5_000, p50_ns: p50, p99_ns: p50 + 40_000 },
  max_ns: p50 + 90_000,
  ...more,
})

const SECOND = {
  ...{ started_at: '2026-11-20T23:10:20Z', sent: 128, clock_error_ns: 4_000 },
  outbound: summary(80_000, { measured: 126, lost: 2 }),
  inbound: summary(70_000),
  round_trip: summary(150_000, { measured: 126, lost: 2 }),
}

const RUN = recordedItem('/v1/on-demand-measurements', {
  ...{ id: ID, mesh_id: 'm', source: end('1', 'web-1'), target: end('2', 'db-1'), rate_hz: 128, source_ports: 4 },
  ...{ ecn: false, reordering: false, status: 'running', seconds: 1, stopped_at: null },
  ...{ starts_at: '2026-11-20T23:10:20Z', ends_at: '2026-11-20T23:10:30Z' },
})

const path = (ports: number[], base_ns: number, slower_by_ns: number, lossy = false) => ({
  ...{ ports, base_ns, slower_by_ns, sent: 64, lost: lossy ? 2 : 0, lossy },
})

const RESULT = {
  ...RUN,
  windows: [SECOND],
  ...{ outbound: SECOND.outbound, inbound: SECOND.inbound, round_trip: SECOND.round_trip },
  outbound_paths: [path([319, 40_001], 78_000, 0), path([40_002, 40_003], 158_000, 80_000, true)],
  inbound_paths: [path([319, 40_001, 40_002, 40_003], 69_000, 0)],
  ...{ outbound_probes: null, inbound_probes: null },
}

function Addressed({ first }: { first?: string }) {
  const [open, setOpen] = useState(first)
  return <OnDemandTab meshId="m" source="1" target="2" clock="utc" open={open} onOpen={setOpen} />
}

const ANSWERS = {
  'GET /v1/on-demand-measurements': [],
  'POST /v1/on-demand-measurements': RUN,
  [`GET /v1/on-demand-measurements/${ID}`]: RESULT,
  [`POST /v1/on-demand-measurements/${ID}/stop`]: { ...RUN, status: 'stopped' },
}

async function start(answers: Answers = ANSWERS) {
  const { sent } = await visit(<Addressed />, answers)
  await userEvent.selectOptions(await screen.findByLabelText('Source ports'), '4')
  await userEvent.selectOptions(screen.getByLabelText('Duration'), '10 s')
  await userEvent.click(screen.getByRole('button', { name: 'Run now' }))
  return sent
}

test('the list has the state of the result above it, and is read again while one is not over', async () => {
  const waiting = { ...RUN, status: 'waiting', seconds: 0 }
  const other = { ...waiting, id: 'other', starts_at: '2026-11-20T22:00:00Z' }
  const { sent } = await visit(<Addressed first={ID} />, {
    ...ANSWERS,
    'GET /v1/on-demand-measurements': [waiting, other],
    [`GET /v1/on-demand-measurements/${ID}`]: { ...RESULT, status: 'completed', seconds: 10 },
  })
  const list = within(await screen.findByRole('region', { name: 'Measurements of this pair on demand' }))
  await waitFor(() => expect(list.getByRole('row', { name: /23:10:20/ }).textContent).toContain('Completed'))
  expect(list.getByRole('row', { name: /22:00:00/ }).textContent).toContain('Waiting for the agents')
  const reads = () => sent.filter(({ to }) => to === 'GET /v1/on-demand-measurements').length
  await waitFor(() => expect(reads()).toBeGreaterThan(1), { timeout: 10_000 })
})

test('the paths of source ports are named, and the one that loses packets is marked', async () => {
  await start()
  const paths = within(await screen.findByRole('region', { name: 'Distinct paths, outbound' })).getAllByRole('row')
  expect(paths[2]?.textContent).toMatch(/80\.0 µs.*loses more than the others.*40002, 40003/)
  expect(screen.getByText(/One path found/)).toBeTruthy()
})

test.each([
  ['2', '4', '', /at least as many exchanges/],
  ['4', '4', 'Compare the order of packets', /at most half of the exchanges/],
])(
  '%s exchanges a second for %s source ports are refused before the request: %s',
  async (rate, ports, probe, words) => {
    const { sent } = await visit(<Addressed />, ANSWERS)
    await userEvent.selectOptions(await screen.findByLabelText('Exchanges per second'), rate)
    await userEvent.selectOptions(screen.getByLabelText('Source ports'), ports)
    if (probe) await userEvent.click(screen.getByLabelText(probe))
    await userEvent.click(screen.getByRole('button', { name: 'Run now' }))
    expect(screen.getByText(words)).toBeTruthy()
    expect(sent.some(({ to }) => to === 'POST /v1/on-demand-measurements')).toBe(false)
  },
)

test('sweeps say which source ports are faster, and where a program reads it', async () => {
  const advice = {
    source: end('1', 'a-1'),
    target: end('2', 'b-1'),
    measured_at: RUN.starts_at,
    faster: [40_001, 40_003],
    faster_by_ns: 50_000,
    since: RUN.starts_at,
    agreeing: 2,
    sweeps: 2,
    ports: [],
    words: '2 of 4 source ports are faster.',
  }
  await visit(<Addressed />, {
    'GET /v1/on-demand-measurements': [{ ...RUN, status: 'completed', source_ports: 4 }],
    'GET /v1/meshes/m/paths/1/2/source-ports': advice,
  })
  const shown = await screen.findByRole('region', { name: 'Faster source ports' })
  expect(shown.textContent).toMatch(/2 of 4 source ports are faster\. So since .*Faster: 40001, 40003\./)
  expect(shown.textContent).toContain('/v1/meshes/m/paths/1/2/source-ports')
})
