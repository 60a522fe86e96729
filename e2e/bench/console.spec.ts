/** Times and frames of the console with meshes of 100, 300 and 1,000 VMs and a list of 2,000: `make bench-ui`. */

import type { Locator, Page } from '@playwright/test'
import { read, test } from '../support/journey'
import { framesPerSecond, median, meshesOf, observe, paintedMs, report, scriptBytes, seen, warmMs } from './measure'

const heatmapDrawn = () => performance.getEntriesByName('heatmap drawn').at(-1)?.startTime ?? false
const listShown = () => document.querySelectorAll('main tbody tr').length >= 50 && performance.now()
const overviewShown = () =>
  document.querySelector('main h1') !== null &&
  !/Loading/.test(document.querySelector('main')?.textContent ?? 'Loading') &&
  performance.now()

const LIVE_S = 25
const MOVES_S = 4

test.describe.configure({ mode: 'serial', timeout: 900_000 })

test('100 VMs: overview', async ({ own: page }) => {
  report('ui_overview_ms_100', await warmMs(page, '/', overviewShown))
  const mesh = (await meshesOf(page))[100]
  const began = Date.now()
  await read(page, `/v1/overview/meshes/${mesh}/history`)
  const stripMs = Date.now() - began
  // The first visit: what is kept afterwards makes later ones quicker.
  const drawnMs = await paintedMs(page, `/meshes/${mesh}?span=30d`, heatmapDrawn)
  report('ui_range_30d_ms', Math.max(stripMs, drawnMs), { strip_ms: stripMs, heatmap_ms: Math.round(drawnMs) })
})

test('all: time to paint', async ({ own: page }) => {
  const meshes = await meshesOf(page)
  report('ui_overview_ms_1000', await warmMs(page, '/', overviewShown), { meshes: Object.keys(meshes).length })
  for (const size of [100, 1000]) {
    report(`ui_heatmap_ms_${size}`, await warmMs(page, `/meshes/${meshes[size]}`, heatmapDrawn))
  }
  report('ui_list_ms_2000', await warmMs(page, '/vms', listShown))
  await page.goto('about:blank')
  report('ui_svg_ms_300', median(await svgMs(page, 300)))
})

test('all: new values', async ({ own: page }) => {
  const meshes = await meshesOf(page)
  await observe(page)
  // The change from usual, which the page shows first, has one statistic only.
  await paintedMs(page, `/meshes/${meshes[1000]}?metric=one_way_delay`, heatmapDrawn)
  const spent: number[] = []
  let longest = 0
  // Each is new: what the browser has read before, it draws before it is received again.
  for (const statistic of ['p99', 'mean', 'p90', 'max', 'min']) {
    await page.waitForTimeout(1500)
    await page.evaluate(() => {
      window.marks = []
      window.seen.longest = 0
    })
    await page.getByRole('combobox', { name: 'Statistic' }).selectOption(statistic)
    const took = await page.waitForFunction(() => {
      const at = (name: string, from = 0) =>
        window.marks.find((mark) => mark.name === name && mark.startTime >= from)?.startTime ?? Number.NaN
      return at('heatmap drawn', at('matrix received')) - at('matrix received')
    })
    spent.push(Number(await took.jsonValue()))
    longest = Math.max(longest, (await seen(page)).longest)
  }
  report('ui_values_ms_1000', median(spent), { longest_task_ms: Math.round(longest) })
})

test('all: frames', async ({ own: page }) => {
  const meshes = await meshesOf(page)
  await paintedMs(page, `/meshes/${meshes[300]}`, heatmapDrawn)
  const grid = page.getByRole('grid')
  report('ui_hover_fps_300', await framesPerSecond(page, () => hover(page, grid, LIVE_S)), { seconds: LIVE_S })
  await paintedMs(page, `/meshes/${meshes[1000]}`, heatmapDrawn)
  report('ui_pan_fps_1000', await draggedFps(page, grid))
})

test('all: first load', async ({ own: page }) => {
  report('ui_first_load_kb', (await scriptBytes(page, '/')) / 1000)
})

/** Return frames per second while a magnified heatmap is dragged. */
async function draggedFps(page: Page, grid: Locator) {
  const box = await boxOf(grid)
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  // The plain wheel scrolls the page. About thirty VMs stay in view, each with its name.
  await page.keyboard.down('Control')
  for (let turn = 0; turn < 6; turn++) await page.mouse.wheel(0, -42)
  await page.keyboard.up('Control')
  await page.waitForTimeout(500)
  return framesPerSecond(page, async () => {
    await page.mouse.down()
    await hover(page, grid, MOVES_S)
    await page.mouse.up()
  })
}

async function boxOf(grid: Locator) {
  const box = await grid.boundingBox()
  if (!box) throw new Error('The heatmap is not on the page.')
  return box
}

/** Move the pointer in circles over the heatmap, a move a frame. */
async function hover(page: Page, grid: Locator, seconds: number) {
  const { x, y, width, height } = await boxOf(grid)
  const until = Date.now() + seconds * 1000
  for (let turn = 0; Date.now() < until; turn++) {
    const angle = turn / 20
    await page.mouse.move(x + width * (0.5 + 0.4 * Math.cos(angle)), y + height * (0.5 + 0.4 * Math.sin(angle)))
  }
}

/** The baseline: ms to draw `size`² cells as rectangles of an SVG, as charts of that many elements are drawn. */
async function svgMs(page: Page, size: number): Promise<number[]> {
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
