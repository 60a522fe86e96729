import type { Page } from '@playwright/test'
import { expect, expectAccessible, test } from '../support/journey'

// A product at SINEMORA_E2E_URL has another provider, or none.
test.skip(() => !process.env.SINEMORA_E2E_PROVIDER, 'the product has not the provider of the tests')

/** Sign in at the provider, from a page that needs a session. */
async function signIn(page: Page, login: string) {
  await page.goto('/vms?tz=utc')
  const link = page.getByRole('link', { name: 'Continue with Northwind' })
  await link.click()
  await page.getByLabel('Login').fill(login)
  await page.getByRole('button', { name: 'Continue' }).click()
}

test('a person of the provider becomes a member, with the role of the groups', async ({ page }) => {
  await signIn(page, 'ana')
  await expect(page.getByRole('heading', { name: 'VMs' })).toBeVisible()
  await expect(page).toHaveURL(/\/vms\?tz=utc$/)
  await page.getByRole('button', { name: 'Account' }).click()
  await expect(page.getByText('ana@northwind.example, editor')).toBeVisible()
})

test('a person without a group for this tenant reads why', async ({ page }) => {
  await signIn(page, 'bo')
  await expect(page.getByRole('alert')).toContainText('None of your groups has a role here')
  await expectAccessible(page)
})
