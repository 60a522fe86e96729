/** Figures of the console with meshes of 100, 300 and 1,000 VMs and a list of 2,000; `make bench-ui` starts it. */

import { axeFindings } from '../support/accessibility'
import { expect, read, test } from '../support/journey'
import { framesPerSecond, median, observe, paintedMs, report, scriptBytes, seen, warmMs } from './measure'

interface Named {
  id: string
  name: string
}

const heatmapDrawn = () => performance.getEntriesByName('heatmap drawn').at(-1)?.startTime ?? false
const listShown = () => document.querySelectorAll('main tbody tr').length >= 50 && performance.now()
const overviewShown = () =>
  document.querySelector('main h1') !== null &&
  !/Loading/.test(document.querySelector('main')?.textContent ?? 'Loading') &&
  performance.now()

const LIVE_S = 25
const MOVES_S = 4

test.describe.configure({ mode: 'serial', timeout: 900_000 })

test('100 VMs: overview', async ({ inside: page }) => {
  report('ui_overview_ms_100', await warmMs(page, '/', overviewShown))
})

test('all: time to paint', async ({ inside: page }) => {
  const meshes = await meshesOf(page)
  report('ui_overview_ms_1000', await warmMs(page, '/', overviewShown), { meshes: Object.keys(meshes).length })
  for (const size of [100, 1000]) {
    report(`ui_heatmap_ms_${size}`, await warmMs(page, `/meshes/${meshes[size]}`, heatmapDrawn))
  }
  report('ui_list_ms_2000', await warmMs(page, '/vms', listShown))
  await page.goto('about:blank')
  for (const size of [100, 300]) report(`ui_svg_ms_${size}`, median(await svgMs(page, size)))
})

test('all: new values', async ({ inside: page }) => {
  const meshes = await meshesOf(page)
  await observe(page)
  await paintedMs(page, `/meshes/${meshes[1000]}`, heatmapDrawn)
  const spent: number[] = []
  let longest = 0
  for (const statistic of ['p99', 'mean', 'p50', 'p99', 'mean']) {
    await page.waitForTimeout(1500)
    await page.evaluate(() => {
      performance.clearMarks('heatmap drawn')
      Object.assign((window as unknown as { seen: object }).seen, { longest: 0 })
    })
    await page.getByRole('combobox', { name: 'Statistic' }).selectOption(statistic)
    await page.waitForFunction(heatmapDrawn)
    spent.push(
      await page.evaluate(() => {
        const at = (name: string) => performance.getEntriesByName(name).at(-1)?.startTime ?? Number.NaN
        return at('heatmap drawn') - at('matrix received')
      }),
    )
    longest = Math.max(longest, (await seen(page)).longest)
  }
  report('ui_values_ms_1000', median(spent), { longest_task_ms: Math.round(longest) })
})

test('all: frames', async ({ inside: page }) => {
  const meshes = await meshesOf(page)
  await paintedMs(page, `/meshes/${meshes[300]}`, heatmapDrawn)
  const grid = page.getByRole('grid')
  report('ui_hover_fps_300', await framesPerSecond(page, () => hover(page, grid, LIVE_S)), { seconds: LIVE_S })
  await paintedMs(page, `/meshes/${meshes[1000]}`, heatmapDrawn)
  const box = await boxOf(grid)
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  for (let turn = 0; turn < 6; turn++) await page.mouse.wheel(0, -240)
  await page.waitForTimeout(500)
  report(
    'ui_pan_fps_1000',
    await framesPerSecond(page, async () => {
      await page.mouse.down()
      await hover(page, grid, MOVES_S)
      await page.mouse.up()
    }),
  )
})

test('all: first load, layout and accessibility', async ({ inside: page }) => {
  const meshes = await meshesOf(page)
  report('ui_first_load_kb', (await scriptBytes(page, '/')) / 1000)
  await observe(page)
  const { vms } = await read<{ vms: Named[] }>(page, `/v1/meshes/${meshes[100]}/roster`)
  let [largest, worst, violations] = [0, '', 0]
  for (const address of pagesOf(meshes[100] as string, vms[0]?.id ?? '', vms[1]?.id ?? '')) {
    await page.goto(address)
    await page.waitForLoadState('networkidle', { timeout: 20_000 }).catch(() => undefined) // a live page is never idle
    await expect(page.getByText(/^Loading /)).toHaveCount(0)
    const { shift } = await seen(page)
    if (shift > largest) [largest, worst] = [shift, address]
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.waitForTimeout(500) // colours change gradually
      const findings = await axeFindings(page)
      violations += findings.length
      for (const finding of findings) console.log(`${address} ${colorScheme} ${finding}`)
    }
  }
  report('ui_cls_max', largest, { page: worst.replace(/[0-9a-f-]{36}/g, '…') })
  report('ui_axe_violations', violations)
})

/** Return the ids of the meshes by their number of VMs. */
async function meshesOf(page: Parameters<typeof read>[0]): Promise<Record<number, string>> {
  const { items } = await read<{ items: (Named & { vm_count: number })[] }>(page, '/v1/meshes')
  return Object.fromEntries(items.map(({ id, vm_count }) => [vm_count, id]))
}

const pagesOf = (mesh: string, source: string, target: string) => [
  ...['/', `/meshes/${mesh}`, `/meshes/${mesh}?by=zone`, `/meshes/${mesh}/paths/${source}/${target}`, '/vms'],
  ...[`/vms/${source}`, '/zones', '/meshes', `/meshes/${mesh}/settings`, '/incidents', '/alert-rules', '/receivers'],
  ...['/silences', '/curves', '/curves/memcached-server', '/applications', '/recommendations', '/simulations', '/jobs'],
  ...['series', 'distribution', 'variability', 'losses', 'movers', 'spikes'].map(
    (show) => `/meshes/${mesh}/explore?show=${show}&span=15m`,
  ),
  ...[`/what-if?mesh=${mesh}`, `/onboarding?mesh=${mesh}`, '/api-keys', '/usage', '/about', '/no-such-page'],
]

type Locator = ReturnType<Parameters<typeof read>[0]['getByRole']>

async function boxOf(grid: Locator) {
  const box = await grid.boundingBox()
  if (!box) throw new Error('The heatmap is not on the page.')
  return box
}

/** Move the pointer in circles over the heatmap, a move a frame. */
async function hover(page: Parameters<typeof read>[0], grid: Locator, seconds: number) {
  const { x, y, width, height } = await boxOf(grid)
  const until = Date.now() + seconds * 1000
  for (let turn = 0; Date.now() < until; turn++) {
    const angle = turn / 20
    await page.mouse.move(x + width * (0.5 + 0.4 * Math.cos(angle)), y + height * (0.5 + 0.4 * Math.sin(angle)))
  }
}

/** The baseline: ms to draw `size`² cells as rectangles of an SVG, as charts of that many elements are drawn. */
async function svgMs(page: Parameters<typeof read>[0], size: number): Promise<number[]> {
  const spent: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    spent.push(
      await page.evaluate(async (cells) => {
        const began = performance.now()
        const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
        svg.setAttribute('viewBox', `0 0 ${cells} ${cells}`)
        for (let n = 0; n < cells * cells; n++) {
          const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
          rect.setAttribute('x', String(n % cells))
          rect.setAttribute('y', String(Math.floor(n / cells)))
          rect.setAttribute('width', '1')
          rect.setAttribute('height', '1')
          rect.setAttribute('fill', `hsl(${n % 360} 50% 50%)`)
          svg.append(rect)
        }
        document.body.replaceChildren(svg)
        await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))
        return performance.now() - began
      }, size),
    )
  }
  return spent
}
