import { expect, test } from 'vitest'
import { bodiesOf, mockApi, reply, screen, showPage, upload, userEvent, within } from '~/testing/page'
import { Study } from './Study'

const ROW = {
  workload: 'c',
  profile: 'tb switch',
  operation: 'read',
  count: 2_000,
  per_s: 200,
  mb_per_s: null,
  p50_us: 200,
  p95_us: 341,
  p99_us: 206_000,
  p999_us: null,
  tail: { found: true, evidence: '100 of 2000 requests in 195 to 235 ms', share: 0.05, mean_cost_ms: 10 },
}
const FILE = { link_mbit: 200, seconds: 10, acknowledged_writes: false, delay_us: 150, rows: [ROW] }
const { workload: _w, profile: _p, operation: _o, tail: _t, ...FIGURES } = ROW
const SOURCE = { mb_per_s: null, p95_us: 341, p99_us: 205_695, p999_us: 211_071, ratio: 403.3 }
const SWITCH = {
  ...{ profile: 'tb switch', measures: ['token bucket of 20 Mbit/s'], source: SOURCE },
  measured: { ...FIGURES, ratio: 403, tail_found: true, tail_evidence: ROW.tail.evidence },
}
const HOST = { profile: 'tb host', measures: [], measured: null, source: { ...SOURCE, p99_us: 650, ratio: 1.27 } }
const ANSWER = {
  ...FILE,
  rows: undefined,
  operations: [{ workload: 'c', title: 'YCSB C, read-only', operation: 'read', profiles: [SWITCH, HOST] }],
}

test('a study is shown with the source below each figure', async () => {
  const sent = mockApi({ 'POST /v1/advisors/shaping-studies': ANSWER })
  await showPage(<Study />)
  expect(screen.getByText('No study open.')).toBeTruthy()
  await upload({ ...FILE, rows: [{ ...ROW, source: { p99_us: 1 }, source_mb_per_s: null }] }, 'study.json')
  const table = within(await screen.findByRole('region', { name: 'YCSB C, read-only: read' }))
  const rows = table.getAllByRole('row').map((row) => [...row.children].map((cell) => cell.textContent))
  expect(rows[1]).toEqual([
    'tb switch',
    '200/s',
    '200 µs',
    '341 µssource 341 µs',
    '206 mssource 206 ms',
    '–source 211 ms',
    '× 403source × 403',
    'Found',
  ])
  expect(rows[2]?.at(-1)).toBe('Not run')
  expect(rows[2]?.[4]).toBe('–source 650 µs')
  expect(
    screen.getByText(/study\.json: links of 200 Mbit\/s, 10\.0 s each, client 150 µs away, writes not/),
  ).toBeTruthy()
  // Figures of the source in the file are not sent: the API has its own.
  expect(bodiesOf(sent, 'POST /v1/advisors/shaping-studies')).toEqual([FILE])
  await userEvent.click(screen.getByRole('button', { name: 'Close the study' }))
  expect(screen.getByText('No study open.')).toBeTruthy()
})

test('wrong and large files are refused, and a study that the API refuses says why', async () => {
  const refusal = {
    status: 422,
    code: 'request_invalid',
    detail: 'Invalid request.',
    errors: [{ pointer: '#/rows/0/profile', message: 'Must be one of none, interference.' }],
  }
  mockApi({ 'POST /v1/advisors/shaping-studies': () => reply(422, refusal) })
  await showPage(<Study />)
  for (const wrong of [
    'not JSON',
    { bursts: [] },
    { ...FILE, rows: [] },
    { ...FILE, rows: [{ ...ROW, p99_us: 'x' }] },
  ]) {
    await upload(wrong, 'study.json')
    expect(await screen.findByText(/^Not a study of the shaping lab/)).toBeTruthy()
  }
  await upload(`[${' '.repeat(8 * 1024 ** 2)}]`, 'large.json')
  expect(await screen.findByText('large.json has 8.00 MiB. A file may have at most 8.00 MiB.')).toBeTruthy()
  expect(screen.getByText('No study open.')).toBeTruthy()
  await upload({ ...FILE, rows: [{ ...ROW, profile: 'tb moon' }] }, 'study.json')
  expect(await screen.findByText(/Must be one of none, interference\./)).toBeTruthy()
})
