import { expect, read, test } from '../support/journey'

interface Distribution {
  items: { count: number; title: string }[]
}

test('a path is added to the distribution, kept in the URL, and downloaded as shown', async ({
  inside: page,
  mesh,
  vms,
}) => {
  const [source, target] = vms
  await page.goto(`/meshes/${mesh.id}/explore?show=distribution&span=1h`)
  await page.getByLabel('From', { exact: true }).selectOption({ label: source.name })
  await page.getByLabel('To', { exact: true }).selectOption({ label: target.name })
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(page).toHaveURL(new RegExp(`path:${source.id}:${target.id}|path%3A${source.id}%3A${target.id}`))
  const row = page.getByRole('table').getByRole('row', { name: new RegExp(`${source.name} → ${target.name}`) })
  await expect(row).toBeVisible()
  const answer = await read<Distribution>(
    page,
    `/v1/meshes/${mesh.id}/distribution?selections=path:${source.id}:${target.id}`,
  )
  expect(answer.items[0]?.count).toBeGreaterThan(0)

  await page.getByRole('button', { name: 'Download', exact: true }).click()
  const link = page.getByRole('menuitem', { name: 'CSV', exact: true })
  const file = await page.request.get((await link.getAttribute('href')) as string)
  expect(file.headers()['content-type']).toContain('text/csv')
  expect((await file.text()).split('\n')[0]).toBe('selection,title,low_ns,high_ns,count,cumulative_share')
})

test('a query that becomes a job shows its progress and then its result', async ({ inside: page, mesh }) => {
  // Every query becomes a job at once, as if it took too long.
  await page.route('**/losses?**', (route) =>
    route.continue({ headers: { ...route.request().headers(), prefer: 'respond-async' } }),
  )
  // Delay the first poll of the job until the page was checked.
  let look: () => void = () => {}
  const looked = new Promise<void>((done) => {
    look = done
  })
  await page.route('**/v1/jobs/*', async (route) => {
    await looked
    await route.continue()
  })
  await page.goto(`/meshes/${mesh.id}/explore?show=losses&span=1h`)
  const waiting = page.getByRole('region', { name: 'Waiting for packet loss' })
  await expect(waiting).toContainText('so it runs as a job', { timeout: 60_000 })
  await expect(waiting.getByRole('button', { name: 'Cancel' })).toBeEnabled()
  look()
  await expect(page.getByRole('table')).toBeVisible({ timeout: 60_000 })
  await expect(waiting).toBeHidden()
})
