import { expect, test } from '../support/journey'

test('a simulation with several roots is watched, cancelled, and run again on fewer machines', async ({
  inside: page,
}) => {
  const name = `roots ${Date.now()}`
  await page.goto('/simulations')
  await page.getByLabel('Name').fill(name)
  await page.getByRole('spinbutton', { name: 'Machines', exact: true }).fill('384')
  await page.getByRole('spinbutton', { name: 'Duration (h)' }).fill('24')
  await page.getByText('Advanced').click()
  await page.getByRole('spinbutton', { name: 'Roots per job' }).fill('3')
  await page.getByRole('button', { name: 'Simulate' }).click()
  // It says under which policy it is, and at which step.
  await expect(page.getByText(/^Random: step \d+ of 1440$/)).toBeVisible({ timeout: 120_000 })
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByText('The simulation was cancelled. Nothing was stored.')).toBeVisible()
  await expect(page.getByRole('row', { name: new RegExp(name) })).toHaveCount(0)

  await page.getByRole('spinbutton', { name: 'Machines', exact: true }).fill('96')
  await page.getByRole('spinbutton', { name: 'Duration (h)' }).fill('0.2')
  await page.getByRole('button', { name: 'Simulate' }).click()
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible({ timeout: 60_000 })
  await expect(page.getByText('3; a task counts the nearest')).toBeVisible()
  await expect(page.getByRole('region', { name: 'Policies' }).getByRole('row')).toHaveCount(5)
  await page.getByRole('combobox', { name: 'Distribution of' }).click()
  await page.getByRole('option', { name: 'Placement delay' }).click()
  await expect(page.getByRole('img', { name: /Distribution of placement delay under 4 policies/ })).toBeVisible()
})
