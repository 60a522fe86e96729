import { expect, read, remove, test } from '../support/journey'

interface Rule {
  id: string
  name: string
  scope: { path: string[] | null }
}

test('U, A and Enter save an alert on the most unusual path', async ({ inside: page, mesh, vms }) => {
  const [source, target] = vms
  // On a quiet network nothing is unusual: the list names a path that is measured.
  await page.route('**/deviations?*limit=1', async (route) => {
    const response = await route.fetch()
    const found = await response.json()
    const [from, to] = [source, target].map(({ id, name }) => ({ id, name, zone_name: '' }))
    const item = { source: from, target: to, state: 'measured', deviation_ns: 5_000_000, is_unusual: true, steps: 9 }
    await route.fulfill({ response, json: { ...found, unusual: 1, items: [item] } })
  })
  const rules = async () =>
    (await read<{ items: Rule[] }>(page, `/v1/alert-rules?mesh_id=${mesh.id}`)).items.filter(
      ({ scope: { path } }) => path?.[0] === source.name && path[1] === target.name,
    )
  const before = (await rules()).map(({ id }) => id)
  await page.goto('/')
  await expect(page.getByRole('link', { name: `Most unusual path: ${source.name} → ${target.name}` })).toBeVisible()
  await page.keyboard.press('u')
  await expect(page).toHaveURL(new RegExp(`/paths/${source.id}/${target.id}`))
  await expect(page.getByRole('link', { name: 'Create alert' })).toBeVisible()
  await page.keyboard.press('a')
  await expect(page.getByRole('textbox', { name: 'Name' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/alert-rules\?/)
  const [saved, ...more] = (await rules()).filter(({ id }) => !before.includes(id))
  expect(more).toEqual([])
  await expect(page.getByRole('rowheader', { name: saved?.name ?? 'no rule' }).first()).toBeVisible()
  await remove(page, `/v1/alert-rules/${saved?.id}`)
})
