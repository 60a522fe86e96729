import { credentials, enter, expect, expectAccessible, test } from '../support/journey'

test('a wrong password shows an error, the right one leads to the requested page', async ({ page }) => {
  const errors: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto('/vms?tz=utc')
  await expect(page.getByRole('heading', { name: 'Sign in to Sinemora' })).toBeVisible()
  expect(errors).toEqual([])

  const { password } = credentials()
  await enter(page, `${password}-not`)
  await expect(page.getByRole('alert')).toContainText('password')
  await expectAccessible(page)

  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'VMs' })).toBeVisible()
  await expect(page).toHaveURL(/\/vms\?tz=utc$/)
})

test('signing out ends the session: going back shows nothing', async ({ own: page, mesh }) => {
  await page.goto('/')
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  await expect(page.getByRole('heading', { level: 2, name: mesh.name })).toBeVisible()
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { name: 'Sign in to Sinemora' })).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('heading', { name: 'Sign in to Sinemora' })).toBeVisible()
})

test('a session that ends while a form is full loses nothing', async ({ own: page, mesh }) => {
  await page.goto(`/alert-rules/new?mesh=${mesh.id}`)
  const name = page.getByRole('textbox', { name: 'Name' })
  await name.fill(`half written ${Date.now()} 🙂`)
  const typed = await name.inputValue()
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Create rule' }).click()
  await expect(page.getByText(/what you have entered on this page is kept/)).toBeVisible()
  await expectAccessible(page)
  await enter(page)
  await expect(page.getByRole('heading', { name: 'Sign in to Sinemora' })).toBeHidden()
  await expect(name).toHaveValue(typed)
  await page.getByRole('button', { name: 'Create rule' }).click()
  await expect(page).toHaveURL(/\/alert-rules\?/)
  await page.getByRole('checkbox', { name: `Select ${typed}` }).check()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByText(typed)).toHaveCount(0)
})
