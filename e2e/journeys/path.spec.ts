import { expect, test } from '../support/journey'

test('dragging over a chart zooms in time, and the range goes along to the heatmap', async ({
  inside: page,
  mesh,
  vms,
}) => {
  const [source, target] = vms
  await page.goto(`/meshes/${mesh.id}/paths/${source.id}/${target.id}?tz=utc`)
  const chart = page.getByRole('img', { name: /^One-way delay, p50\. Outbound from/ })
  const box = (await chart.boundingBox()) as { x: number; y: number; width: number; height: number }
  await page.mouse.move(box.x + box.width * 0.5, box.y + 60)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.9, box.y + 60, { steps: 4 })
  await page.mouse.up()
  await expect(page).toHaveURL(/from=.*until=/)
  const range = page.getByRole('button', { name: /^Time range: \d+ \w+ \d+, \d\d:\d\d – / })
  const name = await range.getAttribute('aria-label')
  await page.getByRole('link', { name: mesh.name, exact: true }).click()
  await expect(page.getByRole('grid')).toBeVisible()
  await expect(range).toHaveAttribute('aria-label', name ?? '')
})
