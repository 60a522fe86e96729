import { expect, test, vi } from 'vitest'
import { cellsOf, recorded, screen, userEvent, visit, within } from '~/testing/page'
import { EvidencePage } from './EvidencePage'

const STATISTICS = {
  ...{ count: 28_800, sent: 28_810, lost: 10, loss_ppm: 347, asymmetry_source: 'mesh' },
  ...{ min_ns: 19_000, p50_ns: 21_000, p99_ns: 60_000, max_ns: 900_000, clock_error_ns: 2_000 },
  round_trip: { count: 28_800, p50_ns: 42_000, p99_ns: 100_000 },
}
const RECORDED = recorded('/v1/incidents/{incident_id}/evidence')
const zone = { provider: 'aws', region: 'eu-west-1', name: 'eu-1a', physical_id: 'euw1-az1' }
const path = { source: 'v1', target: 'v2' }
const SPIKE = {
  ...{ ...path, window_started_at: '2026-11-23T10:43:00Z', window_s: 10, max_ns: 900_000, median_ns: 412_000 },
  exchanges: [{ at_ns: 1_000_000, outbound_ns: 900_000, inbound_ns: 20_000 }],
}
const REPORT = {
  ...RECORDED.report,
  incident: {
    ...{ ...RECORDED.report.incident, title: 'paths from a-1', onset_at: '2026-11-23T10:42:00Z' },
    verdict: { kind: 'network', reasons: ['round_trip_changed'] },
  },
  vms: [
    { id: 'v1', name: 'a-1', address: '10.0.0.1', zone },
    { id: 'v2', name: 'b-1', address: null, zone },
  ],
  affected_paths: 5,
  paths: [
    {
      ...{ ...path, usual: { p50_ns: 20_000, basis: 'same_hour', steps: 6 } },
      ...{ before: STATISTICS, during: { ...STATISTICS, p50_ns: 412_000 } },
    },
  ],
  spikes: [SPIKE],
}
const EVIDENCE = { ...RECORDED, report: REPORT }
const open = (evidence: object = EVIDENCE) =>
  visit(<EvidencePage incidentId="i" />, { 'GET /v1/incidents/i/evidence': evidence })

const plain = (text: string | null | undefined) => text?.replaceAll('\u202f', ' ')

test('the report shows paths before and during the incident, spikes, VMs, method and signature', async () => {
  await open()
  await screen.findByRole('heading', { level: 1, name: 'Evidence: paths from a-1' })
  expect(screen.getByText('The network changed.')).toBeTruthy()
  expect(screen.getByText('23 Nov 2026, 10:42:00 UTC')).toBeTruthy()
  expect(screen.getByText('Listed: 1 of 5, the largest change first.')).toBeTruthy()
  const row = within(screen.getByRole('region', { name: 'Affected paths' })).getByRole('row', { name: /^a-1 → b-1/ })
  const before = '28 800 | 21.0 µs | 60.0 µs | 0.0347 % | 42.0 µs'
  const after = '28 800 | 412 µs | 60.0 µs | 0.0347 % | 42.0 µs'
  expect(plain(cellsOf(row))).toBe(`20.0 µs | ${before} | ${after} | ± 2.00 µs | mesh`)
  expect(screen.getAllByRole('cell', { name: 'euw1-az1' })).toHaveLength(2)
  expect(screen.getByRole('row', { name: '1.00 ms 900 µs 20.0 µs' })).toBeTruthy()
  for (const text of [RECORDED.signature.key_id, RECORDED.signature.value]) expect(screen.getByText(text)).toBeTruthy()
})

test('of a spike the exchanges around the largest are shown', async () => {
  const exchanges = Array.from({ length: 60 }, (_, n) => ({
    at_ns: (n + 1) * 100_000_000,
    outbound_ns: n === 40 ? 900_000 : 20_000,
    inbound_ns: n === 39 ? null : 20_000,
  }))
  const report = { ...REPORT, spikes: [{ ...SPIKE, exchanges }] }
  await open({ ...EVIDENCE, report })
  const table = within(await screen.findByRole('region', { name: /^Exchanges of/ }))
  const times = table.getAllByRole('rowheader').map(({ textContent }) => plain(textContent))
  expect(times).toEqual(['3.70 s', '3.80 s', '3.90 s', '4.00 s', '4.10 s', '4.20 s', '4.30 s', '4.40 s'])
  expect(table.getByRole('row', { name: /^4.10 s 900 µs/ })).toBeTruthy()
})

test('the report is copied, downloaded and printed', async () => {
  const print = vi.fn()
  vi.stubGlobal('print', print)
  const user = userEvent.setup()
  await open()
  await user.click(await screen.findByRole('button', { name: 'Copy JSON' }))
  expect(JSON.parse(await navigator.clipboard.readText())).toEqual(EVIDENCE)
  expect(await screen.findByText('Copied')).toBeTruthy()
  const file = screen.getByRole('link', { name: 'Download JSON' })
  expect([file.getAttribute('href'), file.getAttribute('download')]).toEqual([
    '/v1/incidents/i/evidence',
    'evidence-i.json',
  ])
  await user.click(screen.getByRole('button', { name: 'Print' }))
  expect(print).toHaveBeenCalledOnce()
})

test('an incident without paths has a report without them', async () => {
  await open(RECORDED)
  expect(await screen.findByText('No affected paths are recorded for this incident.')).toBeTruthy()
  expect(screen.queryByRole('heading', { name: 'Spikes' })).toBeNull()
})
