import { expect } from '@playwright/test'
import { open, recording, test } from '../support/replayed'

test('a path shows both directions in words, and the cursor over a chart the value at that time', async ({
  shared: page,
}) => {
  await page.goto('about:blank')
  await open(page, `${recording.pages.path}?tz=utc`, 'recorded', 1280)
  const chart = page.getByRole('img', { name: /^One-way delay, p50/ })
  await expect(chart).toHaveAccessibleName(/Outbound from [\d.]+\s.s to [\d.]+\s.s.*Inbound from/)
  await expect(page.getByRole('img', { name: /^Round trip, p50, from/ })).toBeVisible()
  const rates =
    /^Loss\. Outbound (from [\d.]+\s% to [\d.]+\s%|[\d.]+\s% throughout).*; Inbound (from|[\d.]+\s% throughout)/
  await expect(page.getByRole('img', { name: rates })).toBeVisible()
  for (const row of ['min', 'mean', 'p50', 'p90', 'p99', 'p99.9', 'max', 'SD', 'Clock error', 'Loss']) {
    await expect(page.getByRole('table').getByRole('row', { name: new RegExp(`^${row} .*\\d`) })).toBeVisible()
  }
  await expect(page.getByText(/^Newest: /)).toContainText('UTC')
  // The chart moves while the page around it fills: the cursor follows it.
  await expect(async () => {
    const box = await chart.boundingBox()
    if (!box) throw new Error('the chart has no place')
    await page.mouse.move(box.x + box.width * 0.95, box.y + box.height / 2)
    await expect(page.getByText(/^Newest: /)).toBeHidden({ timeout: 3_000 })
    await expect(page.getByText(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d\sUTC/).first()).toBeVisible({ timeout: 3_000 })
  }).toPass({ timeout: 120_000 })
})

test('moves on a heatmap are read from VM to VM, and where one stands between before and after', async ({
  shared: page,
}) => {
  await open(page, recording.pages['heatmap-moves'] as string, 'recorded', 1280)
  const moves = page.getByRole('region', { name: 'Moves', exact: true })
  await expect(moves).toMatchAriaSnapshot(`
    - heading "1 move for checkout"
    - group "Moves made":
      - button "Before"
      - button "After" [pressed]
    - slider "Moves made"
    - status: after 1 of 1
    - list:
      - listitem:
        - button /^1 · checkout \\/ client-2 c-1 → b-1, .+ Round trip .+ → .+; performance .+ → .+/
  `)
  const slider = moves.getByRole('slider')
  await expect(slider).toHaveAttribute('aria-valuetext', 'after 1 of 1')
  await slider.press('Home')
  await expect(slider).toHaveAttribute('aria-valuetext', 'before the move')
  await expect(moves.getByRole('status')).toHaveText('before the move')
})
