import { expect, test } from 'vitest'
import type { ExploreParameters } from '~/api/explore'
import { mockApi, screen, showPage, userEvent, within } from '~/testing/page'
import { SpikesView } from './SpikesView'

const PARAMETERS: ExploreParameters = {
  ...{ selections: ['mesh'], time: {}, metric: 'one_way_delay', statistic: 'p50', by: 'vm' },
  interval: '1h',
} as ExploreParameters

const spike = (number: number) => ({
  id: `s${number}`,
  source: { id: 'a', name: 'a-1' },
  target: { id: 'b', name: 'b-1' },
  started_at: new Date(Date.UTC(2026, 10, 23, 10, 0, 10 * number)).toISOString(),
  ...{ window_s: 10, rise_ns: 1_000_000 + number * 1_000, max_ns: 2_000_000 + number, median_ns: 90_000 },
})

test('many spikes are on pages, which sort by the rise', async () => {
  mockApi({ 'GET /v1/meshes/m/spikes': Array.from({ length: 120 }, (_, number) => spike(number)) })
  await showPage(<SpikesView meshId="m" parameters={PARAMETERS} clock="utc" open={undefined} onOpen={() => {}} />)
  const table = within(await screen.findByRole('region', { name: 'Spikes' }))
  expect(table.getAllByRole('row')).toHaveLength(51)
  const user = userEvent.setup()
  await user.click(table.getByRole('button', { name: 'Rise' }))
  await user.click(table.getByRole('button', { name: 'Rise' }))
  const first = () => within(table.getAllByRole('row')[1] as HTMLElement).getAllByRole('cell')[1]?.textContent
  await expect.poll(first).toMatch(/^\+1.12\sms$/)
})
