import { expect, test } from '../support/journey'

test('a zone collapses to one row and column, and its cell opens the zone pair', async ({ inside: page, mesh }) => {
  await page.goto(`/meshes/${mesh.id}?metric=one_way_delay`)
  const grid = page.getByRole('grid', { name: 'One-way delay, p50 by path' })
  const vms = Number(await grid.getAttribute('aria-rowcount'))
  const heading = page.getByRole('button', { name: /, 2 VMs$/, expanded: true }).first()
  const zone = /(\S+), 2 VMs$/.exec((await heading.getAttribute('aria-label')) ?? '')?.[1]
  await heading.click()
  await expect(page).toHaveURL(/closed=/)
  await expect(grid).toHaveAttribute('aria-rowcount', String(vms - 1))
  await expect(page.getByRole('button', { name: 'Expand zones' })).toBeVisible()

  // Its VMs are the first ones, so the cell is from the collapsed zone to the next VM.
  await grid.focus()
  await grid.press('Control+Home')
  await grid.press('ArrowRight')
  await expect(grid.getByRole('gridcell')).toContainText(`${zone}`)
  await grid.press('Enter')
  await expect(page.getByRole('region', { name: 'Zone pair' }).getByRole('heading', { level: 2 })).toContainText(
    `${zone}`,
  )
  await expect(grid).toHaveAttribute('aria-rowcount', '2')
  await page.getByRole('button', { name: 'Show all VMs' }).click()
  await page.getByRole('button', { name: 'Expand zones' }).click()
  await expect(grid).toHaveAttribute('aria-rowcount', String(vms))
})
