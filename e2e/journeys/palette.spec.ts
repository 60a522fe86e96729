import { expect, expectAccessible, read, test } from '../support/journey'

interface Roster {
  vms: { id: string; name: string }[]
}

test('the keyboard alone leads from the overview to a path', async ({ inside: page, mesh }) => {
  const { vms } = await read<Roster>(page, `/v1/meshes/${mesh.id}/roster`)
  const [source, target] = vms as [Roster['vms'][0], Roster['vms'][0]]
  await page.goto('/')
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  await page.keyboard.press('ControlOrMeta+k')
  const field = page.getByRole('combobox', { name: /^Search/ })
  await expect(field).toBeFocused()
  await expect(page.getByRole('option', { name: /^Silences/ })).toBeVisible()
  await expectAccessible(page)

  await page.keyboard.type(`${source.name} ${target.name}`)
  const path = page.getByRole('option', { name: `${source.name} → ${target.name}` })
  await expect(path).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(new RegExp(`/meshes/${mesh.id}/paths/${source.id}/${target.id}$`))
  await expect(page.getByRole('dialog')).toBeHidden()
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()

  await test.step('"?" lists the keys, and Escape closes the list', async () => {
    await page.keyboard.press('?')
    await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toBeHidden()
  })
})

test('the navigation collapses to icons, and is collapsed after a reload', async ({ inside: page }) => {
  await page.goto('/vms')
  const navigation = page.getByRole('navigation', { name: 'Main' })
  const width = () => navigation.evaluate((node) => node.getBoundingClientRect().width)
  const before = await width()
  await page.getByRole('button', { name: 'Collapse navigation' }).click()
  await page.reload()
  await expect(page.getByRole('button', { name: 'Expand navigation' })).toBeVisible()
  expect(await width()).toBeLessThan(before / 2)
  await expect(navigation.getByRole('link', { name: 'VMs' })).toHaveAttribute('aria-current', 'page')
  await expectAccessible(page)
  await navigation.getByRole('link', { name: 'Zones' }).hover()
  await expect(page.getByRole('tooltip')).toHaveText('Zones')
})
