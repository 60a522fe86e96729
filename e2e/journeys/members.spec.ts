import { expect, expectAccessible, read, stranger, test } from '../support/journey'

const PASSWORD = 'correct horse battery'

test('a person is invited, accepts, gets another role and is removed', async ({ inside: page, browser, mesh }) => {
  const email = `journey-${Date.now()}@example.com`
  await page.goto('/members')
  await page.getByRole('button', { name: 'Invite a person' }).click()
  await page.getByLabel('E-mail', { exact: true }).fill(email)
  await page.getByLabel('Delivery').selectOption('Link to copy')
  await page.getByRole('button', { name: 'Create link' }).click()
  const link = await page.getByRole('group', { name: 'Invitation link' }).locator('code').innerText()
  await expect(page.getByRole('row', { name: new RegExp(`${email}.*Pending`) })).toBeVisible()

  const other = await stranger(browser)
  await other.goto(link)
  await expect(other.getByRole('heading', { name: /^Join / })).toBeVisible()
  await expectAccessible(other)
  await other.getByLabel('Your name').fill('A journey')
  await other.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await other.getByRole('button', { name: 'Create account and join' }).click()
  await expect(other.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  await other.goto('/members')
  await expect(other.getByRole('row', { name: /A journey.*Viewer/ })).toBeVisible()
  await expect(other.getByRole('button', { name: 'Invite a person' })).toHaveCount(0)

  await page.reload()
  await page.getByLabel(`Role of ${email}`).selectOption('Admin')
  await expect(page.getByLabel(`Role of ${email}`)).toHaveValue('admin')
  await other.reload()
  await expect(other.getByRole('button', { name: 'Invite a person' })).toBeVisible()

  // Removed while a page with a live stream is open: it asks to sign in without a click.
  await other.goto(`/meshes/${mesh.id}`)
  await expect(other.getByRole('grid').first()).toBeVisible()
  await page.getByRole('button', { name: `Remove ${email}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByRole('button', { name: `Remove ${email}` })).toHaveCount(0)
  await expect(other.getByRole('heading', { name: 'Sign in to Sinemora' })).toBeVisible({ timeout: 60_000 })
  await other.goto(link)
  await expect(other.getByRole('alert')).toContainText('Invitation used')
  await other.context().close()
})

test('an owner exports the tenant, requests its deletion and cancels it', async ({ inside: page }) => {
  const { tenant } = await read<{ tenant: { name: string } }>(page, '/v1/auth/session')
  await page.goto('/tenant')
  const panel = (name: string) => page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name }) })
  const confirm = (name: string) => panel(name).getByRole('textbox', { name: /^Type .* to confirm$/ })
  await expect(panel('Rename').getByLabel('Name')).toHaveValue(tenant.name)

  await panel('Export data')
    .getByLabel(/^Include measurements/)
    .uncheck()
  await panel('Export data').getByRole('button', { name: 'Export' }).click()
  const download = page.waitForEvent('download')
  await panel('Export data')
    .getByRole('link', { name: /sinemora-export\.tar/ })
    .click({ timeout: 120_000 })
  expect((await download).suggestedFilename()).toBe('sinemora-export.tar')

  await expect(panel('Leave tenant').getByRole('button', { name: 'Leave tenant' })).toBeDisabled()
  await confirm('Leave tenant').fill(tenant.name)
  await panel('Leave tenant').getByRole('button', { name: 'Leave tenant' }).click()
  await expect(panel('Leave tenant').getByRole('alert')).toContainText('Last owner')

  await confirm('Delete tenant').fill(tenant.name)
  await panel('Delete tenant').getByRole('button', { name: 'Delete tenant' }).click()
  await expect(page.getByText(/^This tenant and all of its data will be deleted on/)).toBeVisible()
  await page.goto('/')
  await expect(page.getByText(new RegExp(`^${tenant.name} will be deleted on`))).toBeVisible()
  await page.getByRole('link', { name: 'Tenant settings' }).click()
  await page.getByRole('button', { name: 'Cancel the deletion' }).click()
  await expect(confirm('Delete tenant')).toBeVisible()
  await expect(page.getByText(/will be deleted on/)).toHaveCount(0)
})
