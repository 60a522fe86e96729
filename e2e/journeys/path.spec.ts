import { expect, read, test } from '../support/journey'

interface Roster {
  vms: { id: string; name: string }[]
}

test('a path shows both directions, the round trip and loss over time', async ({ inside: page, mesh }) => {
  const { vms } = await read<Roster>(page, `/v1/meshes/${mesh.id}/roster`)
  const [source, target] = vms as [Roster['vms'][0], Roster['vms'][0]]
  await page.goto(`/meshes/${mesh.id}/paths/${source.id}/${target.id}`)

  const delay = page.getByRole('img', { name: /^One-way delay, p50/ })
  await expect(delay).toHaveAccessibleName(/Outbound from [\d.]+ .s to [\d.]+ .s.*Inbound from/)
  await expect(page.getByRole('img', { name: /^Round trip, p50, from/ })).toBeVisible()
  // The packets are real: no window, some windows or all of the few may have losses.
  await expect(
    page.getByRole('img', {
      name: /^Loss\. Outbound (from [\d.]+ % to [\d.]+ %|[\d.]+ % throughout).*; Inbound (from|[\d.]+ % throughout)/,
    }),
  ).toBeVisible()

  const table = page.getByRole('table')
  for (const row of ['min', 'mean', 'p50', 'p90', 'p99', 'p99.9', 'max', 'SD', 'Clock error', 'Loss']) {
    await expect(table.getByRole('row', { name: new RegExp(`^${row} .*\\d`) })).toBeVisible()
  }
  await expect(page.getByText(/Asymmetry source: (assumed|estimated from the mesh)/)).toBeVisible()

  await page.getByRole('button', { name: 'Time range: Last 15 minutes' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Last hour' }).click()
  await expect(page).toHaveURL(/span=1h/)
  await page.getByRole('link', { name: 'Swap direction' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(new RegExp(`^${target.name}.*${source.name}$`))
  await expect(page).toHaveURL(new RegExp(`/paths/${target.id}/${source.id}\\?span=1h`))
})

test('dragging over a chart zooms in time, and the range goes along to the heatmap', async ({ inside: page, mesh }) => {
  const { vms } = await read<Roster>(page, `/v1/meshes/${mesh.id}/roster`)
  const [source, target] = vms as [Roster['vms'][0], Roster['vms'][0]]
  await page.goto(`/meshes/${mesh.id}/paths/${source.id}/${target.id}?tz=utc`)
  const chart = page.getByRole('img', { name: /^One-way delay, p50\. Outbound from/ })
  const box = (await chart.boundingBox()) as { x: number; y: number; width: number; height: number }
  await page.mouse.move(box.x + box.width * 0.5, box.y + 60)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.9, box.y + 60, { steps: 4 })
  await page.mouse.up()
  await expect(page).toHaveURL(/from=.*until=/)
  const range = page.getByRole('button', { name: /^Time range: \d+ \w+ \d+, \d\d:\d\d – / })
  const name = await range.getAttribute('aria-label')
  await page.getByRole('link', { name: mesh.name, exact: true }).click()
  await expect(page.getByRole('grid')).toBeVisible()
  await expect(range).toHaveAttribute('aria-label', name ?? '')
})

test('the cursor over a chart shows the value at that time', async ({ inside: page, mesh }) => {
  const { vms } = await read<Roster>(page, `/v1/meshes/${mesh.id}/roster`)
  const [source, target] = vms as [Roster['vms'][0], Roster['vms'][0]]
  await page.goto(`/meshes/${mesh.id}/paths/${source.id}/${target.id}?tz=utc`)
  const chart = page.getByRole('img', { name: /^One-way delay/ })
  await expect(page.getByText(/^Newest: /)).toContainText('UTC')
  // The chart moves while the page around it fills: the cursor follows it.
  await expect(async () => {
    const box = await chart.boundingBox()
    if (!box) throw new Error('the chart has no place')
    await page.mouse.move(box.x + box.width * 0.95, box.y + box.height / 2)
    await expect(page.getByText(/^Newest: /)).toBeHidden({ timeout: 3_000 })
    await expect(page.getByText(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC/).first()).toBeVisible({ timeout: 3_000 })
  }).toPass({ timeout: 120_000 })
})
