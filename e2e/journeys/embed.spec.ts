import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '../support/journey'

test('a heatmap in the frame of another site, until its link is revoked', async ({ inside: page, mesh, browser }) => {
  const name = `journey ${Date.now()}`
  await page.goto(`/meshes/${mesh.id}?metric=one_way_delay`)
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('button', { name: 'Embed this view' }).click()
  const dialog = page.getByRole('dialog', { name: 'Embed this view' })
  await dialog.getByLabel('Name of the link').fill(name)
  await dialog.getByRole('button', { name: 'Create link' }).click()
  const snippet = await dialog.getByRole('group', { name: 'HTML of the frame' }).locator('code').innerText()

  const wiki = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(`<h1>Wiki</h1>${snippet}`)
  })
  await new Promise<void>((done) => wiki.listen(0, '127.0.0.1', done))
  // A reader without an account, on another site.
  const reader = await (await browser.newContext()).newPage()
  try {
    const { port } = wiki.address() as AddressInfo
    await reader.goto(`http://127.0.0.1:${port}/`)
    const frame = reader.frameLocator('iframe')
    await expect(frame.getByRole('grid', { name: /^One-way delay/ })).toBeVisible()

    await dialog.getByRole('button', { name: `Revoke the link ${name}` }).click()
    await expect(dialog.getByText(name, { exact: true })).toHaveCount(0)
    await reader.reload()
    await expect(frame.getByRole('heading', { name: 'This link has ended' })).toBeVisible()
  } finally {
    await reader.context().close()
    wiki.close()
  }
})
