import { createKey, expect, expectAccessible, remove, test } from '../support/journey'

test('a call is tried from the reference of the API, with the session and with a key', async ({
  inside: page,
  mesh,
  baseURL,
}) => {
  const refused: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') refused.push(message.text())
  })
  page.on('pageerror', (error) => refused.push(error.message))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(baseURL ?? '').origin) refused.push(request.url())
  })
  await page.goto('/help')
  await page.getByRole('navigation', { name: 'Pages of Help' }).getByRole('link', { name: 'API reference' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'API reference' })).toBeVisible()

  await page.getByLabel('Filter operations').fill('get list meshes')
  await page.getByRole('link', { name: 'GET List Meshes' }).click()
  await page.getByRole('button', { name: 'Send' }).click()
  const answer = page.getByRole('region', { name: 'Answer' })
  await expect(answer).toContainText(`"name": "${mesh.name}"`)
  await expect(page.getByText(/^200/)).toBeVisible()
  await expectAccessible(page)
  expect(refused).toEqual([])

  const key = await createKey(page, `reference ${Date.now()}`, 'read')
  await page.getByLabel('API key', { exact: true }).fill(key.secret)
  const asked = page.waitForRequest((request) => request.url().endsWith('/v1/meshes'))
  await page.getByRole('button', { name: 'Send' }).click()
  const headers = await (await asked).allHeaders()
  expect(headers.authorization).toBe(`Bearer ${key.secret}`)
  expect(headers.cookie ?? '').not.toContain('session')
  await expect(answer).toContainText(`"name": "${mesh.name}"`)
  await remove(page, `/v1/api-keys/${key.id}`)
})

test('a change that is tried has the CSRF token and an idempotency key', async ({ inside: page }) => {
  await page.goto('/help/reference?operation=create_zone')
  const name = `zone-${Date.now()}`
  await page.getByLabel('Request body').fill(JSON.stringify({ provider: 'reference', region: 'r', name }))
  const asked = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/v1/zones'))
  await page.getByRole('button', { name: 'Send' }).click()
  const headers = await (await asked).allHeaders()
  expect(headers['x-csrf-token']).toBeTruthy()
  expect(headers['idempotency-key']).toBeTruthy()
  const answer = page.getByRole('region', { name: 'Answer' })
  await expect(answer).toContainText(`"name": "${name}"`)
  const { id } = JSON.parse((await answer.textContent()) ?? '') as { id: string }
  await remove(page, `/v1/zones/${id}`)

  await page.getByLabel('Request body').fill('{"name": ""}')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(answer).toContainText('request_invalid')
})
