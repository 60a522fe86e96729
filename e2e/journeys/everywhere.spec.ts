import { gzipSync } from 'node:zlib'
import { expect, expectAccessible, test } from '../support/journey'

test('styles of components win over those of elements and of the component kit', async ({ inside: page, mesh }) => {
  await page.goto(`/meshes/${mesh.id}`)
  const link = page.getByRole('link', { name: 'VMs', exact: true })
  const button = page.getByRole('button', { name: 'Collapse navigation' })
  const style = (node: HTMLElement) => {
    const { color, fontSize } = getComputedStyle(node)
    return { color, fontSize }
  }
  await expect(button).toHaveCSS('font-size', '13px')
  expect(await link.evaluate(style)).toEqual(await button.evaluate(style))
})

test('the theme is chosen once and stays', async ({ inside: page, mesh }) => {
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`/meshes/${mesh.id}`)
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  expect(await background()).toBe('rgb(255, 255, 255)')
  await page.getByRole('button', { name: /^Theme/ }).click()
  await page.getByRole('menuitem', { name: 'Dark' }).click()
  await expect.poll(background).toBe('rgb(16, 19, 24)')
  await page.reload()
  await expect(page.getByRole('button', { name: 'Theme: Dark' })).toBeVisible()
  expect(await background()).toBe('rgb(16, 19, 24)')
})

test('times are in the zone that was chosen, on every page', async ({ inside: page, mesh }) => {
  await page.goto(`/meshes/${mesh.id}`)
  await page.getByRole('button', { name: /^Local/ }).click()
  await expect(page).toHaveURL(/tz=utc/)
  await page.getByRole('link', { name: 'VMs', exact: true }).click()
  await expect(page).toHaveURL(/\/vms\?tz=utc/)
  await expect(page.getByRole('button', { name: 'UTC', exact: true })).toBeVisible()
})

test('a new page has the focus on its heading', async ({ inside: page }) => {
  await page.goto('/vms')
  await page.getByRole('link', { name: 'Curves', exact: true }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Curves' })).toBeFocused()
  await page.getByRole('link', { name: 'Zones' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Zones' })).toBeFocused()
})

test('a required field that is empty is shown, clear of the bar', async ({ inside: page, mesh }) => {
  await page.goto(`/alert-rules/new?mesh=${mesh.id}`)
  const button = page.getByRole('button', { name: 'Create rule' })
  await button.scrollIntoViewIfNeeded()
  await button.click()
  const name = page.getByRole('textbox', { name: 'Name' })
  await expect(name).toBeFocused()
  await expect(page.getByRole('alert')).toHaveText('Enter a value.')
  const bottomOfBar = await page.getByRole('banner').evaluate((bar) => bar.getBoundingClientRect().bottom)
  const label = page.getByText('Name', { exact: false }).first()
  expect(await label.evaluate((node) => node.getBoundingClientRect().top)).toBeGreaterThan(bottomOfBar)
})

test('in a narrow window the navigation folds into a drawer', async ({ inside: page, mesh }) => {
  await page.setViewportSize({ width: 375, height: 800 })
  await page.goto(`/meshes/${mesh.id}`)
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await expectAccessible(page)
  await page.getByRole('dialog', { name: 'Sinemora' }).getByRole('link', { name: 'Zones' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Zones' })).toBeFocused()
  await expect(page.getByRole('dialog')).toBeHidden()
})

test('an API key is shown once and can be deleted', async ({ inside: page }) => {
  const name = `journey ${Date.now()}`
  await page.goto('/api-keys')
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Create key' }).click()
  const secret = page.getByRole('group', { name: 'API key' }).getByRole('code')
  await expect(secret).toContainText(/^sm_/)
  const key = await secret.innerText()
  const answer = await page.request.get('/v1/meshes', { headers: { Authorization: `Bearer ${key}`, Cookie: '' } })
  expect(answer.ok()).toBe(true)
  await page
    .getByRole('row', { name: new RegExp(name) })
    .getByRole('button', { name: `Delete ${name}` })
    .click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByRole('rowheader', { name })).toHaveCount(0)
  await page.reload()
  await expect(page.getByText(key)).toHaveCount(0)
})

test('the first load stays small; charts come with their page', async ({ inside: page, mesh }) => {
  const sizes: Promise<number>[] = []
  const codings = new Set<string | undefined>()
  page.on('response', (response) => {
    if (!response.url().endsWith('.js')) return
    codings.add(response.headers()['content-encoding'])
    sizes.push(response.body().then((body) => gzipSync(body).length))
  })
  const loaded = async () => {
    // A heading may be seen while scripts of the page still arrive.
    await page.waitForLoadState('networkidle')
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  }
  await page.goto('/about')
  await expect(page.getByRole('heading', { level: 1, name: 'About' })).toBeVisible()
  const shell = await loaded()
  expect(shell).toBeLessThan(250_000)
  await page.goto(`/meshes/${mesh.id}`)
  await expect(page.getByRole('grid')).toBeVisible()
  // The second page loads its scripts again: what it shares with the first comes from the browser's cache.
  expect((await loaded()) - shell).toBeLessThan(340_000)
  expect([...codings]).toEqual(['br'])
})
