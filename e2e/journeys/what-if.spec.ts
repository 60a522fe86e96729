import { expect, remove, test, write } from '../support/journey'

test('slower paths between two zones change the predicted performance of an application', async ({
  inside: page,
  mesh,
  vms,
}) => {
  const name = `what if ${Date.now()}`
  const [root] = vms
  const other = vms.find(({ zone_name }) => zone_name !== root.zone_name) as typeof root
  const { id } = await write<{ id: string }>(page, 'POST', '/v1/applications', {
    ...{ name, mesh: mesh.name, curve: 'memcached-server' },
    tasks: [
      { name: 'server', vm: root.name, root: true },
      { name: 'client', vm: other.name },
    ],
  })

  const row = page
    .getByRole('region', { name: 'Applications before and after' })
    .getByRole('row', { name: new RegExp(name) })
  const [now, then, , change] = [0, 1, 2, 3].map((at) => row.getByRole('cell').nth(at))
  // A prediction needs some windows of the path.
  await expect(async () => {
    await page.goto(`/what-if?mesh=${mesh.id}`)
    await expect(then as NonNullable<typeof then>).toContainText(' %')
  }).toPass({ timeout: 90_000 })
  const slower = page.getByRole('form', { name: 'Added latency' })
  await slower.getByRole('combobox', { name: 'Between zone' }).selectOption(root.zone_name)
  await slower.getByRole('combobox', { name: 'and zone' }).selectOption(other.zone_name)
  await slower.getByLabel('Added latency (µs)').fill('200')
  await slower.getByRole('button', { name: 'Add latency' }).click()
  await expect(page.getByRole('list', { name: 'Changes in order' })).toContainText('+200 µs')
  await expect(change as NonNullable<typeof change>).toContainText('−')
  const share = async (cell: typeof now) => Number.parseFloat((await cell?.innerText()) ?? '')
  expect(await share(then)).toBeLessThan(await share(now))
  // The changes are in the URL.
  await page.reload()
  await expect(change as NonNullable<typeof change>).toContainText('−')
  await page.getByRole('button', { name: 'Undo all' }).click()
  await expect(change as NonNullable<typeof change>).not.toContainText('−')
  await remove(page, `/v1/applications/${id}`)
})
