import { expect, test, vi } from 'vitest'
import type { SignedEvidence } from '~/api/incidents'
import { fail, mockApi, screen, showPage, userEvent, within } from '~/testing/page'
import { EvidencePage } from './EvidencePage'

const STATISTICS = {
  count: 28_800,
  sent: 28_810,
  lost: 10,
  loss_ppm: 347,
  min_ns: 19_000,
  p50_ns: 21_000,
  p99_ns: 60_000,
  max_ns: 900_000,
  clock_error_ns: 2_000,
  asymmetry_source: 'mesh' as const,
  round_trip: { count: 28_800, p50_ns: 42_000, p99_ns: 100_000 },
}
const zone = { provider: 'aws', region: 'eu-west-1', name: 'eu-1a', physical_id: 'euw1-az1' }
const EVIDENCE: SignedEvidence = {
  report: {
    format: 'sinemora-evidence/1',
    product: { name: 'Sinemora', version: '0.1.0', keys_url: 'https://sinemora.example/v1/evidence-keys' },
    method: { summary: 'PTP exchanges.', clocks: 'Virtual clocks.', statistics: 'Quantiles.', standards: ['RFC 7679'] },
    mesh: { id: 'm', name: 'production', rate_hz: 8, window_s: 10, vms: 6 },
    incident: {
      id: 'i',
      title: 'paths from a-1',
      suspect: 'paths from a-1',
      severity: 'critical',
      rules: ['Delay above its baseline'],
      onset_at: '2026-11-23T10:42:00Z',
      detected_at: '2026-11-23T10:42:20Z',
      ended_at: null,
      verdict: { kind: 'network', reasons: ['round_trip_changed'] },
      worst: {
        window_ended_at: '2026-11-23T10:43:00Z',
        metric: 'one_way_delay',
        statistic: 'p50',
        unit: 'ns',
        value: 412_000,
        usual: 21_000,
        limit: 36_000,
        paths: 5,
        of_paths: 5,
      },
    },
    before: { from: '2026-11-23T09:42:00Z', to: '2026-11-23T10:42:00Z' },
    during: { from: '2026-11-23T10:42:00Z', to: '2026-11-23T10:58:00Z' },
    vms: [
      { id: 'v1', name: 'a-1', address: '10.0.0.1', zone },
      { id: 'v2', name: 'b-1', address: null, zone },
    ],
    affected_paths: 5,
    paths: [
      {
        source: 'v1',
        target: 'v2',
        usual: { p50_ns: 20_000, basis: 'same_hour', steps: 6 },
        before: STATISTICS,
        during: { ...STATISTICS, p50_ns: 412_000 },
      },
    ],
    spikes: [
      {
        source: 'v1',
        target: 'v2',
        window_started_at: '2026-11-23T10:43:00Z',
        window_s: 10,
        max_ns: 900_000,
        median_ns: 412_000,
        exchanges: [{ at_ns: 1_000_000, outbound_ns: 900_000, inbound_ns: 20_000 }],
      },
    ],
  },
  signature: { algorithm: 'Ed25519', canonicalization: 'RFC 8785', key_id: '0123456789abcdef', value: 'c2ln' },
}

const plain = (text: string | null | undefined) => text?.replaceAll('\u202f', ' ')

test('the report shows paths before and during the incident, spikes, VMs, method and signature', async () => {
  mockApi({ 'GET /v1/incidents/i/evidence': EVIDENCE })
  await showPage(<EvidencePage incidentId="i" />)
  await screen.findByRole('heading', { level: 1, name: 'Evidence: paths from a-1' })
  expect(screen.getByText('The network changed.')).toBeTruthy()
  expect(screen.getByText('23 Nov 2026, 10:42:00 UTC')).toBeTruthy()
  expect(screen.getByText('Listed: 1 of 5, the largest change first.')).toBeTruthy()
  const row = within(screen.getByRole('region', { name: 'Affected paths' })).getByRole('row', { name: /^a-1 → b-1/ })
  expect(
    within(row)
      .getAllByRole('cell')
      .map(({ textContent }) => plain(textContent)),
  ).toEqual([
    '20.0 µs',
    ...['28 800', '21.0 µs', '60.0 µs', '0.0347 %', '42.0 µs'],
    ...['28 800', '412 µs', '60.0 µs', '0.0347 %', '42.0 µs'],
    '± 2.00 µs',
    'mesh',
  ])
  expect(screen.getAllByRole('cell', { name: 'euw1-az1' })).toHaveLength(2)
  expect(screen.getByRole('row', { name: '1.00 ms 900 µs 20.0 µs' })).toBeTruthy()
  for (const text of ['RFC 7679', '0123456789abcdef', 'c2ln']) expect(screen.getByText(text)).toBeTruthy()
})

test('of a spike the exchanges around the largest are shown', async () => {
  const exchanges = Array.from({ length: 60 }, (_, n) => ({
    at_ns: (n + 1) * 100_000_000,
    outbound_ns: n === 40 ? 900_000 : 20_000,
    inbound_ns: n === 39 ? null : 20_000,
  }))
  const report = { ...EVIDENCE.report, spikes: [{ ...EVIDENCE.report.spikes[0], exchanges }] }
  mockApi({ 'GET /v1/incidents/i/evidence': { ...EVIDENCE, report } })
  await showPage(<EvidencePage incidentId="i" />)
  const table = within(await screen.findByRole('region', { name: /^Exchanges of/ }))
  const times = table.getAllByRole('rowheader').map(({ textContent }) => plain(textContent))
  expect(times).toEqual(['3.70 s', '3.80 s', '3.90 s', '4.00 s', '4.10 s', '4.20 s', '4.30 s', '4.40 s'])
  expect(table.getByRole('row', { name: /^4.10 s 900 µs/ })).toBeTruthy()
})

test('the report is copied, downloaded and printed', async () => {
  mockApi({ 'GET /v1/incidents/i/evidence': EVIDENCE })
  const print = vi.fn()
  vi.stubGlobal('print', print)
  const user = userEvent.setup()
  await showPage(<EvidencePage incidentId="i" />)
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

test('a report that cannot be signed says why', async () => {
  mockApi({ 'GET /v1/incidents/i/evidence': () => fail(409, 'Secret key missing: the operator must set it.') })
  await showPage(<EvidencePage incidentId="i" />)
  expect((await screen.findByRole('alert')).textContent).toContain('Secret key missing')
})

test('an incident without paths has a report without them', async () => {
  const report = { ...EVIDENCE.report, affected_paths: 0, paths: [], spikes: [] }
  mockApi({ 'GET /v1/incidents/i/evidence': { ...EVIDENCE, report } })
  await showPage(<EvidencePage incidentId="i" />)
  expect(await screen.findByText('No affected paths are recorded for this incident.')).toBeTruthy()
  expect(screen.queryByRole('heading', { name: 'Spikes' })).toBeNull()
})
