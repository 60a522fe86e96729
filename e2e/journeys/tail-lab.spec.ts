import { expect, expectAccessible, test } from '../support/journey'

test('a study of the tail lab is run from its form, and a bad line of own flow sizes is named', async ({
  inside: page,
}) => {
  await page.goto('/advisors/tail-lab')
  await page.getByRole('combobox', { name: 'Flow sizes' }).selectOption('w4')
  await page.getByText('Advanced').click()
  await page.getByRole('spinbutton', { name: 'Flows', exact: true }).fill('1000')
  await page.getByRole('spinbutton', { name: 'Evaluations of a search' }).fill('5')
  await page.getByRole('combobox', { name: 'Priority classes' }).selectOption('4')
  await page.getByRole('button', { name: 'Run study' }).click()
  const policies = page.getByRole('region', { name: 'Policies' })
  await expect(policies.getByRole('row', { name: /^D-TAIL blind, 4 classes/ })).toBeVisible({ timeout: 120_000 })
  await page.getByRole('combobox', { name: 'Gains over' }).selectOption('ps')
  await expect(policies.getByRole('row', { name: /^SRPT/ })).toContainText('% lower')
  await expect(page.getByRole('img', { name: 'Gain of D-TAIL aware in Tail mean and mean, by α' })).toBeVisible()
  await expect(page.getByText('cannot on one link').first()).toBeVisible()
  await expectAccessible(page)
  await page.reload()
  await expect(policies.getByRole('row', { name: /^SRPT/ })).toContainText('% lower')

  await page.getByRole('combobox', { name: 'Flow sizes' }).selectOption('own')
  await page.getByRole('textbox', { name: 'Flow sizes in bytes' }).fill('bytes,count\n500,90\nmany,10\n')
  await page.getByRole('button', { name: 'Run study' }).click()
  await expect(page.getByText(/line 3: bytes must be a whole number/)).toBeVisible()
})
