import { expect, expectAccessible, remove, test } from '../support/journey'

const TABLE = `added_us,rate,spread,repeats
0,990000,4000,5
20,988000,5000,5
50,925000,5000,5
100,790000,9000,5
200,575000,8000,5
400,352000,6000,5
700,231000,5000,5
1000,163000,4000,5
`

test('curves are compared, and the choice is in the URL', async ({ inside: page }) => {
  await page.goto('/curves')
  await page.getByRole('checkbox', { name: 'Compare Memcached, server' }).check()
  await page.getByRole('checkbox', { name: 'Compare Spark GLM regression' }).check()
  await expect(page).toHaveURL(/compare=memcached-server.*spark-glm/)
  const slider = page.getByRole('slider', { name: 'Added round trip' })
  await slider.press('Home')
  const row = page.getByRole('table').getByRole('row', { name: /^Memcached, server/ })
  await expect(row).toContainText('100.0 %')
  await slider.press('End')
  await expect(page).toHaveURL(/added=1000/)
  await expect(row).toContainText('16.0 %')
  await page.reload()
  await expect(row).toContainText('16.0 %')
  // The published formula at 250 µs: 1.067 - 0.77325 + 0.25525 - 0.02966.
  await page.goto(page.url().replace('added=1000', 'added=250'))
  await expect(row).toContainText('51.9 %')
})

test('the cost of added latency on a measured path', async ({ inside: page, mesh, vms }) => {
  const [source, target] = vms
  await page.goto('/curves/memcached-server')
  await expect(page.getByRole('img', { name: /^Memcached, server: performance from 100\s% to 16\s%/ })).toBeVisible()
  const slider = page.getByRole('slider', { name: 'Added round trip' })
  await slider.focus()
  for (let i = 0; i < 20; i++) await slider.press('ArrowRight')
  await expect(page).toHaveURL(/added=100/)
  await expect(page.getByRole('strong').filter({ hasText: '79.7 %' })).toBeVisible()
  await page.getByLabel('Add to measured latency in').selectOption(mesh.id)
  await page.getByLabel('From', { exact: true }).selectOption(source.id)
  await page.getByLabel('To', { exact: true }).selectOption(target.id)
  await expect(page).toHaveURL(new RegExp(`source=${source.id}&target=${target.id}`))
  await expect(page.getByText(/^[\d,]+ round trips between/)).toContainText(`${source.name} and ${target.name}`)

  await expect(page.getByText(/The test bed round trip of 37\.5\sµs is subtracted \(/)).toBeVisible()
  const field = page.getByLabel('Test bed round trip (µs)')
  await field.fill('25')
  await field.press('Enter')
  await expect(page).toHaveURL(/reference=25/)
  await expect(page.getByText(/The test bed round trip of 25(\.0)?\sµs is subtracted/)).toBeVisible()
  await page.getByLabel('Waiting pattern').selectOption('rounds')
  await expect(page).toHaveURL(/waiting=rounds/)
})

test('a table with a fault is shown at its line, a good one becomes a curve', async ({ inside: page }) => {
  const name = `journey ${Date.now()}`
  await page.goto('/curves/new')
  await page.getByRole('textbox', { name: 'Application' }).fill(name)
  await page.getByLabel('Unit').fill('queries/s')
  const table = page.getByLabel('Measurements')
  await table.fill(TABLE.replace('925000', 'fast'))
  await page.getByRole('button', { name: 'Fit curve' }).click()
  await expect(page.getByRole('list', { name: 'Lines around 4' })).toContainText("'fast' is not a number")
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Go to line 4' }).click()
  await expect(table).toBeFocused()

  await table.fill(TABLE)
  await page.getByRole('button', { name: 'Fit curve' }).click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible({ timeout: 60_000 })
  const { pathname } = new URL(page.url())
  await expect(page.getByText(/prediction of 8 samples/)).toBeVisible()
  await expect(page.getByRole('img', { name: /^Residuals of 8 samples/ })).toBeVisible()

  await page.getByRole('link', { name: 'New version' }).click()
  await page.getByLabel('Measurements').fill(TABLE.replaceAll(',5\n', ',9\n'))
  await page.getByRole('button', { name: 'Fit version' }).click()
  await page.getByRole('button', { name: 'Version 1' }).click()
  await expect(page).toHaveURL(/number=1/)
  await expect(page.getByText('Version 1 of 2.')).toBeVisible()
  await remove(page, `/v1${pathname}`)
})
