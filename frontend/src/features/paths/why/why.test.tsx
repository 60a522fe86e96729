import { expect, test } from 'vitest'
import type { Path } from '~/api/types'
import { fail, reply, screen, visit, within } from '~/testing/page'
import { changeCause, hostCause } from './causes'
import { WhyTab } from './WhyTab'

const side = { sent: 100, lost: 0 }
const PATH = { source: { id: 'v1', name: 'a-1' }, target: { id: 'v2', name: 'c-1' }, outbound: side, inbound: side }
const change = (is_unusual: boolean) => ({ value_ns: 560_000, deviation_ns: is_unusual ? 400_000 : 900, is_unusual })
const waits = (ratio: number | null) => ({ stalled_ratio: [0.001, ratio], steal_ratio: [null], throttled_ratio: [0] })
const mesh = { id: 'm', name: 'production' }
const finding = { advisor: 'shaping', mesh, about: 'a-1', measurement: 'the bucket is empty', of: null }

const ANSWERS = {
  'GET /v1/meshes/m/deviations/v1/v2': change(true),
  'GET /v1/meshes/m/deviations/v2/v1': change(false),
  'GET /v1/vms/v1/host-waits': waits(0.12),
  'GET /v1/vms/v2/host-waits': waits(0.002),
  'POST /v1/advisors/transports': () => fail(500, 'Out of disk.'),
  'GET /v1/overview/findings': () =>
    reply(200, [
      finding,
      { ...finding, about: 'a-10' },
      { ...finding, mesh: { id: 'n', name: 'other' } },
      { ...finding, advisor: 'fairness', about: '12 VMs', measurement: "jain's index is 0.7", of: 'vms' },
    ]),
}

test('what slows a path comes first, with a sentence and a link; what failed says why', async () => {
  await visit(<WhyTab meshId="m" source="v1" target="v2" path={PATH as unknown as Path} />, ANSWERS)
  await screen.findByText('Could not be loaded: Out of disk.')
  await screen.findByText('The bucket is empty.')
  const rows = screen.getAllByRole('row').slice(1)
  const words = rows.map((row) => {
    const [state, ...rest] = within(row).getAllByRole('cell')
    return [state?.textContent, within(row).getByRole('rowheader').textContent, rest.at(-1)?.textContent]
  })
  expect(words.filter(([state]) => state === 'Found')).toEqual([
    ['Found', 'Delay, a-1 → c-1', '560 µs, +400 µs from usual.'],
    ['Found', 'Waits on a-1', expect.stringContaining('waiting for a processor 12.0 %')],
    ['Found', 'Shaping: a-1', 'The bucket is empty.'],
    ['Found', 'Fairness: 12 VMs', expect.stringContaining('0.7.')],
  ])
  expect(words[0]?.[0]).toBe('Found')
  expect(words.at(-1)?.[0]).toBe('Not known')
  expect(screen.getByRole('link', { name: 'Waits on a-1' }).getAttribute('href')).toBe('/vms/v1')
  const transport = screen.getByRole('link', { name: 'Transport' }).getAttribute('href')
  expect(transport).toMatch(/^\/advisors\/transport\?.*source=a-1/)
})

test('what is missing is not called fine, and a faster path is not called slow', () => {
  expect(changeCause({ value_ns: 1, deviation_ns: null, is_unusual: null }).state).toBe('unknown')
  expect(changeCause({ value_ns: 1_000, deviation_ns: -90_000, is_unusual: true }).state).toBe('clear')
  expect(hostCause({ stalled_ratio: [null], steal_ratio: [], throttled_ratio: [] } as never).state).toBe('unknown')
})
