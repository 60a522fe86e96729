/** Figures on a simulated network that is fed live, with five faults whose places are known: `make bench-ui`. */

import type { CDPSession, Locator, Page } from '@playwright/test'
import { expect, read, test } from '../support/journey'
import { heapOf, input, meshesOf, report } from './measure'

/** A fault, and the names under which a page shows it: `backend/lab/benchmarks/showing/sights.py`. */
interface Sight {
  fault: string
  text: string
  names: string[]
  sources: string[]
  targets: string[]
  zones: string[]
  both: boolean
  has_paths: boolean
  since_s: number
  until_s: number | null
}

const LISTED = 5
const NETWORK = 'Simulated network'
/** The product calls an agent silent three windows and ten seconds after its last report. */
const SILENT_MS = 45_000

test.describe.configure({ timeout: 7_200_000 })

test('faults: named on the overview and among the most unusual', async ({ own: page }) => {
  const { sights, seed } = input<{ sights: Sight[]; seed: number }>()
  const mesh = (await meshesOf(page))[100]
  await page.goto('/')
  const entries = await overviewEntries(page)
  await page.setViewportSize({ width: 1440, height: 900 })
  report('ui_data_ink_percent', await dataInk(page), { seed })
  const [headline = '', first = ''] = [
    await page
      .getByText(/^Degraded/)
      .first()
      .locator('..')
      .innerText(),
    await page.getByRole('region', { name: 'Open incidents, worst first' }).getByRole('rowheader').first().innerText(),
  ]
  const about = sights.find((sight) => isNamed(sight, first))
  const isPictured = (await page.locator('table [data-first]').count()) > 0
  report('ui_headline_wrong', about && isNamed(about, headline) && isPictured ? 0 : 1, { seed, first })
  const named = sights.filter((sight) => entries.some((entry) => isNamed(sight, entry)))
  const attention = page.getByRole('region', { name: 'Needs attention' }).getByRole('link')
  const [silent] = sights.filter((sight) => !sight.has_paths)
  const isListed = await expect(attention.filter({ hasText: silent?.names[0] ?? '' }))
    .toHaveCount(1, { timeout: SILENT_MS })
    .then(() => true)
    .catch(() => false)
  const lists = {
    vm: await mostUnusual(page, `/meshes/${mesh}`),
    zone: await mostUnusual(page, `/meshes/${mesh}?by=zone`),
  }
  // A zone pair also changes with a VM at one of its ends; a path is of one fault or of none.
  const ofFault = (row: string) => sights.some((sight) => joins(row, sight.sources, sight.targets, sight.both))
  const falseRows = lists.vm.filter((row) => !ofFault(row))
  report('ui_false_rows_percent', (100 * falseRows.length) / lists.vm.length, { seed, rows: falseRows.join('; ') })
  const coloured = await unusualCells(page, mesh as string)
  const falseCells = coloured.filter((row) => !ofFault(row))
  report('ui_false_cells_percent', (100 * falseCells.length) / coloured.length, {
    ...{ seed, cells: coloured.length, caused_by_none: falseCells.slice(0, 8).join('; ') },
  })
  const listed = sights.filter((sight) =>
    sight.has_paths
      ? lists.vm.some((row) => joins(row, sight.sources, sight.targets, sight.both)) ||
        lists.zone.some((row) => joins(row, sight.zones.slice(0, 1), sight.zones.slice(1), sight.both))
      : isListed,
  )
  const visible = sights.filter((sight) => named.includes(sight) && listed.includes(sight))
  console.log(JSON.stringify({ entries, lists }, null, 1))
  const missing = (some: Sight[]) =>
    sights
      .filter((sight) => !some.includes(sight))
      .map(({ text }) => text)
      .join('; ')
  report('ui_faults_visible', visible.length, {
    seed,
    not_on_overview: missing(named),
    not_most_unusual: missing(listed),
  })
})

const CLICKS = 2

test('clicks: every fault of a month', async ({ own: page }) => {
  const { sights, seed } = input<{ sights: Sight[]; seed: number }>()
  const clicks = new Map<string, number>()
  /** Note the faults that entries of a page name; those that are over, on a page of their time only. */
  const note = (count: number, entries: string[], from = Infinity, until = Infinity) => {
    for (const sight of sights) {
      const isThen = sight.until_s === null || (from < 1000 * sight.until_s && until > 1000 * sight.since_s)
      const isThere = isThen && entries.some((entry) => isNamed(sight, entry))
      if (isThere) clicks.set(sight.fault, Math.min(count, clicks.get(sight.fault) ?? Infinity))
    }
  }
  await page.goto('/')
  note(0, await overviewEntries(page))
  const days = page.getByRole('slider', { name: /30\sdays/ })
  // Back from the newest changed hour. Those next to each other are one mark.
  for (let before = Infinity; clicks.size < sights.length; ) {
    const { x, y, width, height } = (await days.boundingBox()) as {
      x: number
      y: number
      width: number
      height: number
    }
    const hours = Number(await days.getAttribute('aria-valuemax')) + 1
    const point = (hour: number): [number, number] => [x + (width * (hour + 0.5)) / hours, y + height / 2]
    let at = Math.min(before, hours) - 1
    for (; at >= 0; at--) {
      await page.mouse.move(...point(at))
      if (/ lost |\+/.test((await days.getAttribute('aria-valuetext')) ?? '')) break
    }
    if (at < 0) break
    await page.mouse.click(...point(at))
    await page.waitForURL(/from=/)
    const ends = ['from', 'until'].map((end) => Date.parse(new URL(page.url()).searchParams.get(end) ?? ''))
    const [from, until] = ends as [number, number]
    before = at + 1 - Math.ceil((until - from) / 3_600_000)
    const rows = page.getByRole('table', { name: 'Most unusual' }).getByRole('rowheader')
    for (let count = 1; count <= CLICKS; count++) {
      if (count > 1) await page.getByText('VM × VM', { exact: true }).click()
      await page.getByRole('grid').waitFor()
      await rows
        .first()
        .waitFor({ timeout: 10_000 })
        .catch(() => undefined)
      note(count, await texts(rows), from, until)
    }
    await page.goto('/')
    await overviewEntries(page)
  }
  const missing = sights.filter(({ fault }) => !clicks.has(fault)).map(({ text }) => text)
  report('ui_faults_two_clicks_percent', (100 * clicks.size) / sights.length, {
    ...{ seed, clicks: [...clicks].map((one) => one.join(' ')).join('; '), missing: missing.join('; ') },
  })
})

/** Return the coloured cells of the heatmap of changes: "a → b". */
async function unusualCells(page: Page, mesh: string): Promise<string[]> {
  const { axis, values, baseline } = await read<{
    axis: { name: string }[]
    values: (number | null)[][]
    baseline: { dead_band_ns: (number | null)[][] }
  }>(page, `/v1/meshes/${mesh}/matrix?metric=deviation`)
  return axis.flatMap(({ name: from }, row) =>
    axis.flatMap(({ name: to }, column) => {
      const isUnusual = Math.abs(values[row]?.[column] ?? 0) > (baseline.dead_band_ns[row]?.[column] ?? Infinity)
      return isUnusual ? [`${from} → ${to}`] : []
    }),
  )
}

/** Return the share of the first screen next to the navigation that pictures, tables and the sentence of each mesh take. */
const dataInk = (page: Page) =>
  page.locator('main').evaluate((main) => {
    const data = [...main.querySelectorAll('table, svg[role=img], [role=status], [class*=days], [class*=verdict]')]
    const outer = data.filter((one) => !data.some((other) => other !== one && other.contains(one)))
    const area = ({ top, bottom, width }: DOMRect) => Math.max(0, Math.min(bottom, innerHeight) - top) * width
    const { left, top, width } = main.getBoundingClientRect()
    return (
      (100 * outer.reduce((sum, one) => sum + area(one.getBoundingClientRect()), 0)) /
      ((width + Math.min(0, left)) * (innerHeight - Math.max(0, top)))
    )
  })

/** Return what the overview names as wrong: incidents, zone pairs that changed, agents that need attention. */
async function overviewEntries(page: Page): Promise<string[]> {
  const mesh = page.getByRole('region', { name: NETWORK, exact: true })
  const zones = mesh.getByRole('table', { name: /^Change of the one-way delay/ }).getByRole('link')
  await expect(zones.first()).toBeVisible({ timeout: 60_000 })
  const incidents = page.getByRole('region', { name: 'Open incidents, worst first' }).getByRole('rowheader')
  await expect(incidents.first()).toBeVisible()
  const attention = page.getByRole('region', { name: 'Needs attention' }).getByRole('link')
  const changed = await zones
    .filter({ hasText: /\S/ })
    .evaluateAll((cells) => cells.map((cell) => cell.ariaLabel ?? ''))
  return [...(await texts(incidents)), ...(await texts(attention)), ...changed]
}

/** Return the first rows of the list of unusual paths or zone pairs: "a → b". */
async function mostUnusual(page: Page, address: string): Promise<string[]> {
  await page.goto(address)
  const rows = page.getByRole('table', { name: 'Most unusual' }).getByRole('rowheader')
  await expect(rows.first()).toBeVisible({ timeout: 60_000 })
  return (await texts(rows)).slice(0, LISTED)
}

const texts = async (found: Locator) => (await found.allInnerTexts()).map((text) => text.trim())

/** Match an entry that has all names of a fault, as whole names: "a-1" is not in "a-10". */
function isNamed({ names, both }: Sight, entry: string): boolean {
  const whole = names.map((name) => `(?<![\\w-])${name}(?![\\w-])`)
  const orders = both ? [whole, whole.toReversed()] : [whole]
  return orders.some((order) => new RegExp(order.join('.*')).test(entry))
}

/** Match a row that is a path from one of the sources to one of the targets. */
function joins(row: string, sources: string[], targets: string[], both: boolean): boolean {
  const [from = '', to = ''] = row.split(' → ')
  const isThere = sources.includes(from) && targets.includes(to)
  return isThere || (both && sources.includes(to) && targets.includes(from))
}

test('heap: growth of pages that stay open', async ({ own: page, context }) => {
  const { minutes } = input<{ minutes: number }>()
  const mesh = (await meshesOf(page))[100]
  // Unused responses stay in the cache of queries for five minutes.
  const warmUp = Math.min(6, minutes / 3)
  const open = {
    heatmap: { page, address: `/meshes/${mesh}` },
    overview: { page: await context.newPage(), address: '/' },
  }
  const sessions: Record<string, CDPSession> = {}
  for (const [name, { page: shown, address }] of Object.entries(open)) {
    await shown.goto(address)
    await expect(shown.getByRole('heading', { level: 1 })).toBeVisible()
    sessions[name] = await context.newCDPSession(shown)
  }
  await page.waitForTimeout(warmUp * 60_000)
  const start = await heaps(sessions)
  await page.waitForTimeout(minutes * 60_000)
  const end = await heaps(sessions)
  const names = Object.keys(sessions)
  const grown = Object.fromEntries(names.map((name) => [name, 100 * ((end[name] ?? 0) / (start[name] ?? 0) - 1)]))
  report('ui_heap_growth_percent', Math.max(...Object.values(grown)), { minutes, ...grown })
})

async function heaps(sessions: Record<string, CDPSession>): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [name, session] of Object.entries(sessions)) found[name] = await heapOf(session)
  return found
}
