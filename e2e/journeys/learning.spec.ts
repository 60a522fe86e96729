import { expect, expectAccessible, read, remove, test, write } from '../support/journey'

interface Source {
  id: string
  name: string
}

test('a metric source shows its finding or the reason why there is none', async ({ inside: page, mesh }) => {
  const name = `journey shop ${Date.now()}`
  await page.goto('/advisors')
  await page.getByRole('link', { name: 'Learning in production' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Learning in production' })).toBeVisible()
  const form = page.getByRole('form', { name: 'Add metric source' })
  await form.getByRole('textbox', { name: 'Application' }).fill(name)
  await form.getByLabel('Mesh').selectOption(mesh.id)
  await form.getByRole('combobox', { name: 'Clients' }).click()
  await page.getByRole('listbox').getByRole('option').first().click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Start learning' }).click()
  const source = page.getByRole('region', { name })
  // Inconclusive when the periodic evaluation came first.
  await expect(source.getByText(/^(Waiting for data|Inconclusive)$/)).toBeVisible()
  await expect(page.getByText(/^Metric source created/)).toBeVisible()
  const { items } = await read<{ items: Source[] }>(page, '/v1/metric-sources')
  const created = items.find((item) => item.name === name) as Source
  try {
    const points = [1, 2, 3].map((back) => ({
      at: new Date(Date.now() - back * 60_000).toISOString(),
      value: 1000 + back,
    }))
    expect(await write(page, 'POST', `/v1/metric-sources/${created.id}/points`, { points })).toEqual({ stored: 3 })
    await source.getByRole('button', { name: 'Evaluate now' }).click()
    await expect(source.getByText('Inconclusive')).toBeVisible()
    await expect(source.getByText(/at least 120 are needed/)).toBeVisible()
    await source.getByRole('button', { name: 'Show data' }).click()
    await expect(source.getByText(/No minute has both|µs/).first()).toBeVisible()
    await expectAccessible(page)
    await source.getByRole('button', { name: 'Pause' }).click()
    await expect(source.getByText('Paused')).toBeVisible()
    await source.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect(source).toBeHidden()
  } finally {
    const left = await read<{ items: Source[] }>(page, '/v1/metric-sources')
    if (left.items.some(({ id }) => id === created.id)) await remove(page, `/v1/metric-sources/${created.id}`)
  }
})

test('a curve is renamed', async ({ inside: page }) => {
  const rows = [0, 50, 100, 200, 400, 600, 800, 1000].map((us) => ({
    latency_us: us,
    performance: 1000 / (1 + us / 300),
  }))
  const { id } = await write<{ id: string }>(page, 'POST', '/v1/curves', { name: `before ${Date.now()}`, rows })
  try {
    await page.goto(`/curves/${id}`)
    await expect(page.getByRole('region', { name: 'Learning in production' })).toContainText(
      'No metric source refreshes',
    )
    await page.getByRole('button', { name: 'Edit…' }).click()
    const after = `after ${Date.now()}`
    await page.getByRole('dialog').getByLabel('Application').fill(after)
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await expect(page.getByRole('heading', { level: 1, name: after })).toBeVisible()
  } finally {
    await remove(page, `/v1/curves/${id}`)
  }
})
