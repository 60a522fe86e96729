import { expect, nanoseconds, read, test } from '../support/journey'

interface Path {
  outbound: { p50_ns: number; sent: number; clock_error_ns: number }
}

test('the heatmap shows the numbers of the API', async ({ inside: page, mesh, vms }) => {
  const [source, target] = vms
  await page.goto(`/meshes/${mesh.id}?metric=one_way_delay&cell=0,1`)
  const cell = page.getByRole('gridcell')
  await expect(cell).toHaveText(new RegExp(`^${source.name} to ${target.name}, p50 [\\d.]+\\s(ns|µs|ms)$`))

  // The next window may arrive between the two readings: repeat until both are from one window.
  await expect(async () => {
    const shown = await cell.innerText()
    const { values } = await read<{ values: number[][] }>(page, `/v1/meshes/${mesh.id}/matrix?metric=one_way_delay`)
    const answered = values[0]?.[1] as number
    // The page has three digits, the code a precision of 1 in 128.
    expect(Math.abs(nanoseconds(shown) / answered - 1)).toBeLessThan(1 / 128 + 0.005)
  }).toPass()

  const detail = page.getByRole('region', { name: 'Selected path' })
  await expect(detail.getByRole('heading')).toContainText(source.name)
  await expect(async () => {
    const { outbound } = await read<Path>(page, `/v1/meshes/${mesh.id}/paths/${source.id}/${target.id}`)
    const cells = await detail.getByRole('row', { name: /^p50/ }).getByRole('cell').allInnerTexts()
    expect(cells[0]?.replace(/\D/g, '')).toBe(String(outbound.p50_ns))
    const errors = await detail
      .getByRole('row', { name: /^Clock error/ })
      .getByRole('cell')
      .allInnerTexts()
    expect(errors[0]?.replace(/\D/g, '')).toBe(String(outbound.clock_error_ns))
  }).toPass()
})

test('a new window appears without a reload', async ({ inside: page, mesh }) => {
  await page.goto(`/meshes/${mesh.id}`)
  await expect(page.getByRole('status').getByText('Live', { exact: true })).toBeVisible()
  const window = page.getByText(/^Window \d/)
  const first = (await window.innerText()).slice(0, 26)
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  await expect(window).not.toContainText(first, { timeout: 60_000 })
  await expect(window).toContainText(/\d\ss ago/)
  expect(loads).toBe(0)
})

test('the keyboard walks the grid and opens a path', async ({ inside: page, mesh, vms }) => {
  const names = vms.map(({ name }) => name)
  await page.goto(`/meshes/${mesh.id}?metric=deviation`)
  const grid = page.getByRole('grid', { name: 'Change from usual by path' })
  const cell = grid.getByRole('gridcell')
  const at = (row: number, column: number) =>
    expect(cell).toHaveText(new RegExp(`^${names[row]} to ${names[column]}, `))

  await grid.focus()
  await at(0, 1)
  await page.keyboard.press('ArrowDown')
  await expect(cell).toHaveText(`${names[1]} to ${names[1]}, not planned`)
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${names[0]}`)
  await expect(page).toHaveURL(/\/paths\//)
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  await page.goBack()
  await at(0, 1)
  await expect(grid).toBeFocused()
})
