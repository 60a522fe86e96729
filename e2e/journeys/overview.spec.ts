import { expect, read, test } from '../support/journey'

interface Health {
  id: string
  paths: { planned: number; measured: number }
}

test('the overview shows the state of the mesh that the API reports, and leads to its paths', async ({
  inside: page,
  mesh,
}) => {
  const paths = async () => {
    const { meshes } = await read<{ meshes: Health[] }>(page, '/v1/overview')
    return meshes.find(({ id }) => id === mesh.id)?.paths ?? { planned: 0, measured: 0 }
  }
  await expect(async () => {
    const { planned, measured } = await paths()
    expect(planned).toBeGreaterThan(0)
    expect(measured).toBe(planned)
  }).toPass()
  const { planned } = await paths()
  await page.goto('/')
  await expect(page).toHaveTitle(/^(\(\d+\) )?Overview · Sinemora$/)
  const section = page.getByRole('region', { name: mesh.name })
  await expect(section.getByText(`${planned} of ${planned}`)).toBeVisible()
  await expect(section.getByText(/no open incidents|^Degraded/i).first()).toBeVisible()
  await expect(section.getByRole('list', { name: /^Last 24 hours/ }).getByRole('link')).toHaveCount(24)

  await test.step('a cell of the zones opens the heatmap of its pair', async () => {
    const cell = section.getByRole('table').getByRole('link').first()
    await expect(cell).toBeVisible()
    await cell.click()
    await expect(page).toHaveURL(new RegExp(`/meshes/${mesh.id}\\?.*view=`))
    await expect(page.getByRole('grid')).toBeVisible()
    await expect(page).toHaveTitle(new RegExp(`Heatmap · ${mesh.name} · Sinemora$`))
  })
})
