import { expect, expectAccessible, test, write } from '../support/journey'
import { policies, world } from '../support/simulation'

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the report of a simulation is shown and deleted on a ${colorScheme} page`, async ({ inside: page }) => {
    const name = `journey ${colorScheme} ${Date.now()}`
    const { id } = await write<{ id: string }>(page, 'POST', '/v1/simulations', { name, world, policies })
    await page.emulateMedia({ colorScheme })
    await page.goto('/simulations')
    const row = page.getByRole('row', { name: new RegExp(name) })
    await expect(row).toContainText('Servers with their tasks, worthwhile moves')
    await expectAccessible(page)
    await row.getByRole('link', { name }).click()
    await expect(
      page.getByRole('img', { name: /Servers with their tasks, worthwhile moves is best with 75\.0 %/ }),
    ).toBeVisible()
    const outcomes = page.getByRole('region', { name: 'Policies' })
    await expect(outcomes.getByRole('row', { name: /^Random/ })).toContainText('47.2 %')
    await expect(outcomes.getByRole('row', { name: /^Servers with their tasks, worthwhile moves/ })).toContainText(
      '0.93 %',
    )
    await expect(page.getByText('trace google2011')).toBeVisible()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect(page).toHaveURL(/\/simulations$/)
    await expect(page.getByText(name)).toHaveCount(0)
    expect((await page.request.get(`/v1/simulations/${id}`)).status()).toBe(404)
  })
}
