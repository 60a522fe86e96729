import { expect, expectAccessible, read, remove, test } from '../support/journey'

test('an annotation is added, and marked on the charts of a path', async ({ inside: page, mesh, vms }) => {
  const text = `journey ${Date.now()}`
  const [source, target] = vms
  await page.goto('/annotations')
  await page.getByRole('button', { name: 'Add annotation' }).click()
  const dialog = page.getByRole('dialog', { name: 'New annotation' })
  await dialog.getByRole('textbox', { name: 'Text' }).fill(text)
  await dialog.getByRole('combobox', { name: 'Mesh' }).selectOption(mesh.name)
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('row', { name: new RegExp(text) })).toContainText(mesh.name)

  const { items } = await read<{ items: { id: string; text: string }[] }>(page, '/v1/annotations')
  const added = items.find((one) => one.text === text)
  expect(added).toBeDefined()
  try {
    await page.goto(`/meshes/${mesh.id}/paths/${source.id}/${target.id}`)
    await page.getByText(/^\d+ annotations? in this range$/).click()
    await expect(page.getByRole('listitem').filter({ hasText: `Deploy: ${text}` })).toBeVisible()
    await expect(page.getByRole('img', { name: /^One-way delay, p50/ })).toBeVisible()
  } finally {
    await remove(page, `/v1/annotations/${added?.id}`)
  }
})
