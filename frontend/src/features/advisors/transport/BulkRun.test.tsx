import { useState } from 'react'
import { expect, test } from 'vitest'
import { bodiesOf, fill, mockApi, recorded, reply, screen, showPage, userEvent, visit, within } from '~/testing/page'
import { BulkRun, EarlierRuns } from './BulkRun'
import { TryTransport } from './TryTransport'

const [SENDER] = recorded('/v1/meshes/{mesh_id}/bulk-senders')
const sender = (name: string, more: object = {}) => ({
  ...{ ...SENDER, vm: { id: name, name }, bytes_max: 1_073_741_824, rate_max_mbit: 1000, seconds_max: 120 },
  ...more,
})
const RECORDED = recorded('/v1/bulk-runs/{run_id}')
const transfer = (index: number, variant: 'a' | 'b', elapsed: number | null) => ({
  ...{ ...RECORDED.transfers[0], index, variant, size_bytes: 10_000_000, elapsed_s: elapsed },
  sent_bytes: elapsed === null ? 2_500_000 : 10_000_000,
  connections: variant === 'b' ? 4 : 1,
  rate_mbit: elapsed === null ? null : 80 / elapsed,
  jain: variant === 'b' && elapsed ? 0.98 : null,
})
const plain = { congestion: null, connections: 1, mptcp: false, tls: false }
const variant = (connections: number, more: object = {}) => ({
  transport: { ...plain, connections },
  done: 1,
  mean_s: 0.5,
  slowest_s: 0.6,
  jain: null,
  slowest_share: null,
  ...more,
})
const RUN = {
  ...RECORDED,
  ...{ id: 'r1', status: 'running', progress: 0.625, size_bytes: 20_000_000, disturbance: [] },
  transfers: [transfer(0, 'a', 0.5), transfer(1, 'b', null)],
  trial: { a: variant(1), b: variant(4, { jain: 0.98 }), change: null, advice: 'Two rounds are needed.' },
}
const DONE = {
  ...RUN,
  status: 'completed',
  progress: 1,
  transfers: [transfer(0, 'a', 0.5), transfer(1, 'b', 0.4)],
  trial: { ...RUN.trial, advice: 'B takes 20.0 % less time (-22.0 % to -18.0 %): use it for such transfers.' },
  disturbance: [{ path: 'a-1 to b-1', before_p50_us: 50, before_p99_us: 90, during_p50_us: 80, during_p99_us: 2100 }],
}

function Harness() {
  const [run, setRun] = useState('')
  return (
    <>
      <TryTransport mesh="m" source="a-1" target="b-1" onRun={setRun} />
      {run && <BulkRun runId={run} />}
    </>
  )
}

test('a trial is started with what was chosen, shows its progress and is stopped', async () => {
  let run: object = RUN
  const { sent } = await visit(<Harness />, {
    'GET /v1/meshes/m/bulk-senders': () => reply(200, [sender('a-1'), sender('b-1', { mptcp: false })]),
    'POST /v1/transport-trials': () => reply(201, RUN),
    'GET /v1/bulk-runs/r1': () => reply(200, run),
    'POST /v1/bulk-runs/r1/stop': () => {
      run = { ...RUN, status: 'stopped' }
      return reply(200, run)
    },
  })
  expect(await screen.findByText('Limits of these agents: 1000 Mbit/s, 1070 MB and 120 s in one run.')).toBeTruthy()
  const b = within(screen.getByRole('group', { name: 'Transport B' }))
  await userEvent.selectOptions(b.getByLabelText('Congestion control'), 'bbr')
  await fill(b.getByLabelText('Connections'), '8')
  await userEvent.click(b.getByLabelText('TLS'))
  await userEvent.click(screen.getByRole('button', { name: 'Compare' }))
  expect(await screen.findByText('Running. 62.5 % of 20.0 MB sent.')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/transport-trials')).toEqual([
    {
      ...{ mesh: 'm', source: 'a-1', target: 'b-1', size_mb: 10, rounds: 5, a: plain },
      b: { congestion: 'bbr', connections: 8, mptcp: false, tls: true },
    },
  ])
  await userEvent.click(screen.getByRole('button', { name: 'Stop' }))
  expect(await screen.findByText('Stopped')).toBeTruthy()
})

test('without the bulk sender the VM and the setting are named', async () => {
  mockApi({ 'GET /v1/meshes/m/bulk-senders': () => reply(200, [sender('a-1'), sender('b-1', { is_on: false })]) })
  await showPage(<Harness />)
  expect(await screen.findByText('Bulk sender off on b-1')).toBeTruthy()
  expect(screen.getByText(/Set bulk_sender = true/)).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Compare' })).toBeNull()
})

test('the same transport twice is named before it is sent', async () => {
  await visit(<Harness />, { 'GET /v1/meshes/m/bulk-senders': () => reply(200, [sender('a-1'), sender('b-1')]) })
  const b = within(await screen.findByRole('group', { name: 'Transport B' }))
  await fill(b.getByLabelText('Connections'), '1')
  expect(screen.getByText('A and B are the same transport: change one.')).toBeTruthy()
})

test('a complete trial shows its advice, its transfers and what it did to delays', async () => {
  await visit(<BulkRun runId="r1" />, { 'GET /v1/bulk-runs/r1': () => reply(200, DONE) })
  expect(await screen.findByText(/B takes 20.0 % less time/)).toBeTruthy()
  const variants = within(screen.getByRole('region', { name: 'Transports' }))
  expect(variants.getByText('Transport B: default, 4 connections')).toBeTruthy()
  const transfers = within(screen.getByRole('region', { name: 'Transfers' }))
  expect(transfers.getByText('200 Mbit/s')).toBeTruthy()
  const disturbed = within(screen.getByRole('region', { name: 'What it did to the measured delays' }))
  expect(disturbed.getByText('2.10 ms')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull()
})

test('an earlier run is opened, and a failed transfer says why', async () => {
  const failed = { ...transfer(1, 'b', null), error: 'b-1 refused it: bulk_max_size allows 67108864 bytes' }
  mockApi({
    'GET /v1/bulk-runs/r1': () => reply(200, { ...DONE, transfers: [transfer(0, 'a', 0.5), failed] }),
    'GET /v1/bulk-runs': [DONE],
  })
  const opened: string[] = []
  await showPage(
    <>
      <BulkRun runId="r1" />
      <EarlierRuns mesh="m" onRun={(id) => opened.push(id)} />
    </>,
  )
  await userEvent.click(await screen.findByRole('button', { name: /Open the run of/ }))
  expect(opened).toEqual(['r1'])
  expect(screen.getByText('a-1, b-1')).toBeTruthy()
  const rows = within(await screen.findByRole('region', { name: 'Transfers' })).getAllByRole('row')
  const last = within(rows[2] as HTMLElement).getAllByRole('cell')
  expect(last.at(-1)?.textContent).toBe(failed.error)
})
