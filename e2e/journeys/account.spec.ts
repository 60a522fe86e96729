import type { Browser, Page } from '@playwright/test'
import { credentials, enter, expect, expectAccessible, stranger, test } from '../support/journey'
import { authenticator } from '../support/totp'

/** Sign in with a second browser; return its page. */
async function elsewhere(browser: Browser): Promise<Page> {
  const page = await stranger(browser)
  await page.goto('/sign-in')
  await enter(page)
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  return page
}

test('a changed password and an ended session sign other browsers out', async ({ inside: page, browser }) => {
  const other = await elsewhere(browser)
  await page.goto('/account')
  const row = page.getByRole('row').filter({ hasText: 'Chrome on Linux' }).filter({ hasText: 'End' }).first()
  await row.getByRole('button').click()
  await other.goto('/vms')
  await expect(other.getByRole('heading', { name: 'Sign in to Sinemora' })).toBeVisible()

  const again = await elsewhere(browser)
  const { password } = credentials()
  const change = async (from: string, to: string) => {
    await page.getByLabel('Current password').fill(from)
    await page.getByLabel('New password').fill(to)
    await page.getByRole('button', { name: 'Change password' }).click()
  }
  await change(password, 'aaaaaaaaaaaa')
  await expect(page.getByText('Easy to guess')).toBeVisible()
  await change(password, 'seven orbit lamp crane')
  await expect(page.getByText('Password changed.')).toBeVisible()
  await again.goto('/vms')
  await expect(again.getByRole('heading', { name: 'Sign in to Sinemora' })).toBeVisible()
  await page.reload()
  await change('seven orbit lamp crane', password)
  await expect(page.getByText('Password changed.')).toBeVisible()
})

test('an authenticator app is set up, asked for at sign-in, and removed', async ({ inside: page, browser }) => {
  await page.goto('/account')
  await page.getByRole('button', { name: 'Add authenticator app' }).click()
  const secret = await page.getByRole('group', { name: 'Secret' }).locator('code').innerText()
  const code = authenticator(secret.trim())
  await expect(page.getByRole('img', { name: 'QR code of the secret' })).toBeVisible()
  await page.getByLabel('Code').fill(await code())
  await page.getByRole('button', { name: 'Confirm' }).click()
  try {
    const codes = page.getByRole('list', { name: 'Recovery codes' })
    await expect(codes.getByRole('listitem')).toHaveCount(10)
    await expectAccessible(page)
    const recovery = await codes.getByRole('listitem').first().innerText()
    await page.getByRole('button', { name: 'I have kept them' }).click()

    const other = await stranger(browser)
    for (const proof of [code, async () => recovery]) {
      await other.goto('/sign-in')
      await enter(other)
      await expect(other.getByRole('heading', { name: 'Second factor' })).toBeVisible()
      await expectAccessible(other)
      await other.getByLabel('Code').fill(await proof())
      await other.getByRole('button', { name: 'Sign in' }).click()
      await expect(other.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
      await other.context().clearCookies()
    }
    await other.context().close()
  } finally {
    await page.goto('/account')
    await page.getByRole('button', { name: 'Remove authenticator app' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await expect(page.getByRole('button', { name: 'Add authenticator app' })).toBeVisible()
  }
})

test('a passkey is added, signs in without a password, is a second factor, and is removed', async ({
  browser,
  baseURL,
}) => {
  // Browsers have passkeys for host names only.
  const context = await browser.newContext({ baseURL: (baseURL ?? '').replace('127.0.0.1', 'localhost') })
  const page = await context.newPage()
  const authenticator = await context.newCDPSession(page)
  await authenticator.send('WebAuthn.enable')
  await authenticator.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const overview = page.getByRole('heading', { level: 1, name: 'Overview' })
  await page.goto('/sign-in')
  await enter(page)
  await expect(overview).toBeVisible()
  await page.goto('/account')
  await page.getByLabel('Name of a new passkey').fill('Laptop')
  await page.getByRole('button', { name: 'Add passkey' }).click()
  try {
    await expect(page.getByRole('heading', { name: 'Passkey Laptop' })).toBeVisible()
    await page.getByRole('button', { name: 'I have kept them' }).click()

    await context.clearCookies()
    await page.goto('/sign-in')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await expect(overview).toBeVisible()

    await context.clearCookies()
    await page.goto('/sign-in')
    await enter(page)
    await expect(page.getByRole('heading', { name: 'Second factor' })).toBeVisible()
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await expect(overview).toBeVisible()
  } finally {
    await page.goto('/account')
    await page.getByRole('button', { name: 'Remove passkey Laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await expect(page.getByRole('heading', { name: 'Passkey Laptop' })).toHaveCount(0)
    await context.close()
  }
})
