import { expect } from '@playwright/test'
import { open, recording, test } from '../support/replayed'

test('a required number that cannot be read is no missing one, and stays', async ({ shared: page }) => {
  await open(page, recording.pages['new-alert-rule'] as string, 'recorded', 1280)
  const field = page.getByLabel('Bad windows')
  await field.fill('')
  await field.pressSequentially('1e999')
  await page.getByRole('button', { name: 'Create rule' }).click()
  await expect(field).toHaveAccessibleErrorMessage(/^Enter a number, with a point for decimals/)
  await field.press('Home')
  await field.press('Delete')
  for (const _ of 'e99') await field.press('Delete')
  await expect(field).toHaveValue('9')
})
