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
