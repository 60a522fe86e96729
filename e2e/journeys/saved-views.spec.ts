import { expect, test } from '../support/journey'

test('a view is saved, and opened from the palette', async ({ inside: page, mesh }) => {
  const name = `journey ${Date.now()}`
  await page.goto(`/meshes/${mesh.id}?metric=loss&by=zone`)
  const grid = page.getByRole('grid', { name: /^Loss/ })
  await expect(grid).toBeVisible()
  const menu = page.getByRole('button', { name: 'Saved views' })
  await menu.click()
  await page.getByRole('textbox', { name: /^Save this page as/ }).fill(name)
  await page.getByRole('button', { name: 'Save view' }).click()
  await expect(page.getByRole('link', { name, exact: true })).toBeVisible()

  await page.goto('/zones')
  await expect(page.getByRole('heading', { level: 1, name: 'Zones' })).toBeVisible()
  await page.keyboard.press('ControlOrMeta+k')
  await expect(page.getByRole('combobox', { name: /^Search/ })).toBeFocused()
  await page.keyboard.type(name)
  await expect(page.getByRole('option', { name })).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/metric=loss/)
  await expect(grid).toBeVisible()

  await menu.click()
  await page.getByRole('button', { name: `Delete the view ${name}` }).click()
  await expect(page.getByRole('link', { name, exact: true })).toHaveCount(0)
})
