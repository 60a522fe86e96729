import { expect } from '@playwright/test'
import { expectAccessible } from '../support/accessibility'
import { open, recording, test } from '../support/replayed'

test('the palette has what is typed while it still loads; the list of keys closes by Escape', async ({
  shared: page,
}) => {
  await page.goto('about:blank')
  await open(page, recording.pages.vms as string, 'recorded', 1280)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('heatmap', { delay: 15 })
  await expect(page.getByRole('combobox', { name: /^Search/ })).toHaveValue('heatmap')
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
})
