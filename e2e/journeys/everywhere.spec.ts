import { gzipSync } from 'node:zlib'
import { expect, test } from '../support/journey'

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

test('the first load stays small; charts come with their page', async ({ own: page, mesh }) => {
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
