// @vitest-environment jsdom
import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Path } from '~/api/types'
import { fail, mockApi, reply } from '~/testing/api'
import { showPage } from '~/testing/render'
import { bucketCause, changeCause, hostCause } from './causes'
import { WhyTab } from './WhyTab'

const side = { sent: 100, lost: 0 }
const PATH = { source: { id: 'v1', name: 'a-1' }, target: { id: 'v2', name: 'c-1' }, outbound: side, inbound: side }
const change = (is_unusual: boolean) => ({ value_ns: 560_000, deviation_ns: is_unusual ? 400_000 : 900, is_unusual })
const waits = (ratio: number | null) => ({ stalled_ratio: [0.001, ratio], steal_ratio: [null], throttled_ratio: [0] })
const refused = () => reply(404, { code: 'token_bucket_unknown', detail: 'Unknown token bucket.' })

const ANSWERS = {
  'GET /v1/meshes/m/roster': { vms: [], zones: [] },
  'GET /v1/incidents': [],
  'GET /v1/meshes/m/deviations/v1/v2': change(true),
  'GET /v1/meshes/m/deviations/v2/v1': change(false),
  'GET /v1/vms/v1/host-waits': waits(0.12),
  'GET /v1/vms/v2/host-waits': waits(0.002),
  'GET /v1/vms/v1/token-bucket': { rate_mbit: 500, forecast: { empty_in_s: 0 } },
  'GET /v1/vms/v2/token-bucket': refused,
  'GET /v1/meshes/m/fairness': { index: 0.7, alert_below: 0.9, below: true },
  'GET /v1/meshes/m/connection-timeouts': { vms_reporting: 1, items: [] },
  'POST /v1/advisors/transports': () => fail(500, 'Out of disk.'),
  'GET /v1/meshes/m/paths/v1/v2/applications': { items: [{ id: 'x', name: 'cache', cost: 0.36 }] },
}

test('what slows a path comes first, with a sentence and a link; what failed says why', async () => {
  mockApi(ANSWERS)
  await showPage(<WhyTab meshId="m" source="v1" target="v2" path={PATH as unknown as Path} />)
  await screen.findByText(/^cache loses 36.0 points/)
  await screen.findByText('Could not be loaded: Out of disk.')
  const rows = screen.getAllByRole('row').slice(1)
  const words = rows.map((row) => {
    const [state, ...rest] = within(row).getAllByRole('cell')
    return [state?.textContent, within(row).getByRole('rowheader').textContent, rest.at(-1)?.textContent]
  })
  expect(words.filter(([state]) => state === 'Found')).toEqual([
    ['Found', 'Delay, a-1 → c-1', '560 µs, +400 µs from usual.'],
    ['Found', 'Waits on a-1', expect.stringContaining('waited for a processor for 12.0 %')],
    ['Found', 'Shaping of a-1', 'The bucket is empty: traffic is held to 500 Mbit/s.'],
    ['Found', 'Shares of the mesh', expect.stringContaining('0.700')],
    ['Found', 'Applications', 'cache loses 36.0 points on this path.'],
  ])
  expect(words.map(([state]) => state).indexOf('Found')).toBe(0)
  expect(words.at(-1)?.[0]).toBe('Not known')
  expect(screen.getByRole('link', { name: 'Waits on a-1' }).getAttribute('href')).toBe('/vms/v1')
  const transport = screen.getByRole('link', { name: 'Transport' }).getAttribute('href')
  expect(transport).toMatch(/^\/advisors\/transport\?.*source=a-1/)
})

test('what is missing is not called fine, and a faster path is not called slow', () => {
  expect(changeCause({ value_ns: 1, deviation_ns: null, is_unusual: null }).state).toBe('unknown')
  expect(changeCause({ value_ns: 1_000, deviation_ns: -90_000, is_unusual: true }).state).toBe('clear')
  expect(hostCause({ stalled_ratio: [null], steal_ratio: [], throttled_ratio: [] } as never).state).toBe('unknown')
  expect(bucketCause({ rate_mbit: 10, forecast: null } as never).state).toBe('unknown')
})
