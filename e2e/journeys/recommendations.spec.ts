import { expect, expectAccessible, remove, test } from '../support/journey'

test('an application is added in a minute, and moves are requested', async ({ inside: page, mesh, vms }) => {
  const name = `journey ${Date.now()}`
  const [root, other] = vms
  await page.goto('/applications/new')
  await page.getByLabel('Name').fill(name)
  await page.getByRole('combobox', { name: 'Mesh', exact: true }).last().selectOption({ label: mesh.name })
  await page.getByLabel('Curve').selectOption('memcached-server')
  await page.getByRole('combobox', { name: 'Server (root)' }).selectOption({ label: root.name })
  await page.getByRole('combobox', { name: 'Other VMs' }).click()
  await page.getByRole('listbox', { name: 'Other VMs' }).getByRole('option', { name: other.name }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Add application' }).click()

  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
  const { pathname } = new URL(page.url())
  const link = page.getByRole('region', { name: 'Links' }).getByRole('row', { name: new RegExp(other.name) })
  await expect(link).toContainText(' %')
  await page.goto('/applications')
  await expect(page.getByRole('row', { name: new RegExp(name) })).toContainText(mesh.name)

  await page.goto('/advisors/compute-mix')
  await page.getByLabel('Application', { exact: true }).selectOption({ label: name })
  await page.getByRole('button', { name: 'Use as price basis' }).click()
  await expect(page.getByText(/^Price basis: 50 jobs\/s, p95 500\sms/)).toBeVisible()

  await page.goto('/recommendations')
  await page.getByLabel('Maximum moves').fill('3')
  await page.getByRole('button', { name: 'Find moves' }).click()
  // All paths are loopback, so the result may vary; it always states its basis.
  await expect(page.getByRole('heading', { name: 'Basis' })).toBeVisible({ timeout: 60_000 })
  await expect(page.getByText(/^Chosen on [\d,]+ windows?, evaluated on [\d,]+ other windows?/)).toBeVisible()
  await page.goto('/recommendations')
  await expect(page.getByRole('row', { name: /Requested by/ }).first()).toBeVisible()

  await page.getByText('Advanced').click()
  await page.getByLabel('Policy').selectOption('nomora')
  await page.getByLabel('Include the flow network').check()
  await page.getByRole('button', { name: 'Find moves' }).click()
  const arcs = page.getByRole('region', { name: 'Arcs of the network' })
  await expect(arcs.getByRole('row', { name: /^M \S+ S/ }).first()).toBeVisible({ timeout: 60_000 })
  await expectAccessible(page)
  await remove(page, `/v1${pathname}`)
})
