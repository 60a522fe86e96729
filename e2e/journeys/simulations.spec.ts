import { expect, expectAccessible, test, write } from '../support/journey'

const seconds = { p50: 0.002, p90: 0.01, p99: 0.2 }
const policy = (name: string, worst: number, moves: boolean) => ({
  policy: name,
  jobs: 40,
  area_percent: 50 * (1 + worst),
  source_percent: name === 'random' ? 47.2 : null,
  worst_job: worst,
  solver_s: seconds,
  round_s: moves ? seconds : null,
  placement_latency_s: seconds,
  response_s: { p50: 600, p90: 4_812, p99: 10_800 },
  moved_share_mean: moves ? 0.0093 : 0,
  moved_share: moves ? { p50: 0.009, p90: 0.01, p99: 0.02 } : null,
  scores: Array.from({ length: 101 }, (_, at) => worst + ((1 - worst) * at) / 100),
})
const world = {
  machines: 192,
  slots: 14,
  seconds: 3_600,
  step_s: 60,
  round_s: 600,
  window_s: 10,
  history_s: 7_200,
  noise: 0.15,
  move_price: 20,
  seed: 1,
  trace: 'google2011',
  latency: null,
  statistics: null,
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the report of a simulation is read and forgotten on a ${colorScheme} page`, async ({ inside: page }) => {
    const name = `journey ${colorScheme} ${Date.now()}`
    const policies = [policy('random', 0.25, false), policy('gang_budget', 0.5, true)]
    const { id } = await write<{ id: string }>(page, 'POST', '/v1/simulations', { name, world, policies })
    await page.emulateMedia({ colorScheme })
    await page.goto('/simulations')
    const row = page.getByRole('row', { name: new RegExp(name) })
    await expect(row).toContainText('gang_budget')
    await expectAccessible(page)
    await row.getByRole('link', { name }).click()
    await expect(page.getByRole('img', { name: /gang_budget is best with 75\.0 %/ })).toBeVisible()
    const outcomes = page.getByRole('region', { name: 'Policies' })
    await expect(outcomes.getByRole('row', { name: /^random/ })).toContainText('47.2 %')
    await expect(outcomes.getByRole('row', { name: /^gang_budget/ })).toContainText('0.93 %')
    await expect(page.getByText('trace google2011')).toBeVisible()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect(page).toHaveURL(/\/simulations$/)
    await expect(page.getByText(name)).toHaveCount(0)
    expect((await page.request.get(`/v1/simulations/${id}`)).status()).toBe(404)
  })
}
