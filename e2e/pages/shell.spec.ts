import { expect } from '@playwright/test'
import { expectAccessible } from '../support/accessibility'
import { open, recording, test } from '../support/replayed'

const address = (name: string) => recording.pages[name] as string

test('styles of components win over those of elements and of the component kit', async ({ shared: page }) => {
  await open(page, address('heatmap'), 'recorded', 1280)
  const link = page.getByRole('link', { name: 'Inventory', exact: true })
  const button = page.getByRole('button', { name: 'Collapse navigation' })
  const style = (node: HTMLElement) => {
    const { color, fontSize } = getComputedStyle(node)
    return { color, fontSize }
  }
  await expect(button).toHaveCSS('font-size', '13px')
  expect(await link.evaluate(style)).toEqual(await button.evaluate(style))
})

test('the next page has the focus on its heading, and the time zone that was chosen', async ({ shared: page }) => {
  await open(page, address('heatmap'), 'recorded', 1280)
  await page.getByRole('button', { name: /^Local/ }).click()
  await expect(page).toHaveURL(/tz=utc/)
  await page.getByRole('link', { name: 'Inventory', exact: true }).click()
  await expect(page).toHaveURL(/\/vms\?tz=utc/)
  await expect(page.getByRole('button', { name: 'UTC', exact: true })).toBeVisible()
  await expect(page.getByRole('heading', { level: 1, name: 'VMs' })).toBeFocused()
  await page.getByRole('link', { name: 'Zones' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Zones' })).toBeFocused()
})

test('a required field that is empty is shown, clear of the bar', async ({ shared: page }) => {
  await open(page, address('new-alert-rule'), 'recorded', 1280)
  const name = page.getByRole('textbox', { name: 'Name' })
  await name.fill('')
  await page.getByRole('button', { name: 'Create rule' }).click()
  await expect(name).toBeFocused()
  await expect(page.getByRole('alert')).toHaveText('Enter a value.')
  const bottomOfBar = await page.getByRole('banner').evaluate((bar) => bar.getBoundingClientRect().bottom)
  const label = page.getByText('Name', { exact: false }).first()
  expect(await label.evaluate((node) => node.getBoundingClientRect().top)).toBeGreaterThan(bottomOfBar)
})

test('in a narrow window the navigation folds into a drawer', async ({ shared: page }) => {
  await open(page, address('heatmap'), 'recorded', 375)
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await expectAccessible(page)
  await page.getByRole('dialog', { name: 'Sinemora' }).getByRole('link', { name: 'Inventory' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'VMs' })).toBeFocused()
  await expect(page.getByRole('dialog')).toBeHidden()
})

test('the navigation collapses to icons with their names as tooltips', async ({ shared: page }) => {
  await open(page, address('vms'), 'recorded', 1280)
  const navigation = page.getByRole('navigation', { name: 'Main' })
  const width = () => navigation.evaluate((node) => node.getBoundingClientRect().width)
  const before = await width()
  await page.getByRole('button', { name: 'Collapse navigation' }).click()
  await expect(page.getByRole('button', { name: 'Expand navigation' })).toBeVisible()
  await expect.poll(width).toBeLessThan(before / 2)
  await expectAccessible(page)
  await navigation.getByRole('link', { name: 'Alerts' }).hover()
  await expect(page.getByRole('tooltip')).toHaveText('Alerts')
})
