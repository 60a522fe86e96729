import { expect, expectAccessible, test } from '../support/journey'

test('two transports are compared between real agents, and the result is judged by its interval', async ({
  inside: page,
  mesh,
  vms,
}) => {
  const [source, target] = vms
  await page.goto(`/advisors/transport?mesh=${mesh.id}&source=${source.name}&target=${target.name}`)
  const second = page.getByRole('group', { name: 'Transport B' })
  await second.getByLabel('Connections').fill('8')
  await second.getByLabel('TLS').check()
  await page.getByLabel('Size of a transfer (MB)').fill('2')
  await page.getByLabel('Transfers with each').fill('3')
  await page.getByRole('button', { name: 'Compare' }).click()
  await expect(page).toHaveURL(/run=/)
  await expect(page.getByText('Completed', { exact: true }).first()).toBeVisible({ timeout: 120_000 })
  const variants = page.getByRole('region', { name: 'Transports' })
  await expect(variants.getByRole('row', { name: /Transport B: default, 8 connections, TLS 3/ })).toBeVisible()
  await expect(page.getByText(/keep A|use it for such transfers/)).toBeVisible()
  await expectAccessible(page)
  await page.reload()
  await expect(page.getByText('Completed', { exact: true }).first()).toBeVisible()

  await second.getByLabel('Connections').fill('200')
  await page.getByRole('button', { name: 'Compare' }).click()
  await expect(second.getByLabel('Connections')).toBeFocused()
  await page.getByLabel('Size of a transfer (MB)').fill('5000')
  await second.getByLabel('Connections').fill('2')
  await page.getByRole('button', { name: 'Compare' }).click()
  await expect(page.getByText(/Over the limit of an agent: .* at most 1074\sMB in a run/)).toBeVisible()
})
