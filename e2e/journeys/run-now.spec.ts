import { readFile } from 'node:fs/promises'
import { expect, expectAccessible, test } from '../support/journey'

const SECONDS = 10
const RATE_HZ = 64
const RELAY_NS = 30_000

test('a pair is measured now: seconds arrive as they are measured, and every exchange is kept', async ({
  inside: page,
  mesh,
  vms,
}) => {
  const [source, target] = vms
  await page.goto(`/meshes/${mesh.id}/paths/${source.id}/${target.id}?tab=on-demand`)
  await page.getByLabel('Exchanges per second').selectOption(String(RATE_HZ))
  await page.getByLabel('Duration').selectOption(String(SECONDS))
  await page.getByLabel('Count ECN marks').check()
  await page.getByLabel('Compare the order of packets').check()
  await page.getByRole('button', { name: 'Run now' }).click()
  await expect(page).toHaveURL(/run=/)

  const result = page.getByRole('region', { name: 'Result' })
  await expect(result.getByRole('status')).toHaveText('Running')
  await expect(page.getByRole('progressbar', { name: 'Progress of the measurement' })).toBeVisible()
  await expect(result.getByRole('img', { name: /^One-way delay of \d+ seconds/ })).toBeVisible()
  await expect(result.getByRole('status')).toHaveText('Completed', { timeout: 3 * SECONDS * 1000 })
  await expectAccessible(page)
  // The relay of the demonstration sends packets as its own: their ECN field is cleared, and their order kept.
  const probes = page.getByRole('region', { name: 'ECN and order of packets' })
  await expect(
    probes.getByRole('row', { name: /^Outbound 0 \(0\s%\) [\d\s]+ \(100\s%\) .* 0 \(0\s%\) [\d\s]+$/ }),
  ).toBeVisible()

  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'All exchanges as CSV' }).click()
  const [header, ...lines] = (await readFile(await (await download).path(), 'utf8')).trim().split('\n')
  const column = header?.split(',').indexOf('round_trip_ns') ?? -1
  // A stalled machine leaves requests out; agents never send more.
  expect(lines.length).toBeGreaterThan(0.5 * SECONDS * RATE_HZ)
  expect(lines.length).toBeLessThanOrEqual(SECONDS * RATE_HZ + 4)
  const trips = lines
    .map((line) => line.split(',')[column])
    .filter((value) => value !== '')
    .map(Number)
    .sort((a, b) => a - b)
  expect(trips.length).toBeGreaterThan(0.5 * lines.length)
  // The relay of the demonstration delays each direction by 25 µs ± 2 µs; how much a busy machine adds is not known.
  expect(trips[0]).toBeGreaterThan(RELAY_NS)
})

test('a measurement is stopped, and stays listed', async ({ inside: page, mesh, vms }) => {
  const [, source, target] = vms
  await page.goto(`/meshes/${mesh.id}/paths/${source.id}/${target.id}?tab=on-demand`)
  await page.getByRole('button', { name: 'Run now' }).click()
  const result = page.getByRole('region', { name: 'Result' })
  await expect(result.getByRole('status')).toHaveText('Running')
  await page.getByRole('button', { name: 'Stop' }).click()
  await expect(result.getByRole('status')).toHaveText('Stopped')
  await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden()
  await page.reload()
  const list = page.getByRole('region', { name: 'Measurements of this pair on demand' })
  await expect(list.getByRole('row', { name: /128\/s for 60\ss.*Stopped/ })).toBeVisible()
})
