/** Measuring in the browser: figures for the benchmark's command, times of painting, frames, shifts of the layout. */

import { appendFileSync } from 'node:fs'
import type { CDPSession, Page } from '@playwright/test'
import { read } from '../support/journey'

/** Pass a figure to the command that started this run. */
export function report(figure: string, value: number, detail: Record<string, number | string> = {}) {
  const file = process.env.SINEMORA_BENCH_FILE
  if (!file) throw new Error('SINEMORA_BENCH_FILE is not set.')
  appendFileSync(file, `${JSON.stringify({ figure, value, detail })}\n`)
}

/** Return what the command that started this run passes on. */
export const input = <T>() => JSON.parse(process.env.SINEMORA_BENCH_INPUT ?? '{}') as T

/** Return the ids of the meshes by their number of VMs. */
export async function meshesOf(page: Page): Promise<Record<number, string>> {
  const { items } = await read<{ items: { id: string; vm_count: number }[] }>(page, '/v1/meshes')
  return Object.fromEntries(items.map(({ id, vm_count }) => [vm_count, id]))
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Run in the page in each frame: the time (ms since navigation) once something is shown, before that false. */
export type Shown = () => number | false

/** Open an address; return the ms from navigation to the first frame in which `shown` holds. */
export async function paintedMs(page: Page, address: string, shown: Shown): Promise<number> {
  await page.goto('about:blank')
  await page.goto(address, { waitUntil: 'commit' })
  const at = await page.waitForFunction(shown, undefined, { polling: 'raf', timeout: 120_000 })
  return Number(await at.jsonValue())
}

/** Return the median ms of `times` openings, after one that fills the caches of server and browser. */
export async function warmMs(page: Page, address: string, shown: Shown, times = 5): Promise<number> {
  await paintedMs(page, address, shown)
  const spent: number[] = []
  for (let turn = 0; turn < times; turn++) spent.push(await paintedMs(page, address, shown))
  return median(spent)
}

/** Return frames per second while `act` runs. */
export async function framesPerSecond(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const counter = { frames: 0, on: true, began: performance.now() }
    Object.assign(window, { counter })
    const count = () => {
      counter.frames += 1
      if (counter.on) requestAnimationFrame(count)
    }
    requestAnimationFrame(count)
  })
  await act()
  return page.evaluate(() => {
    const { counter } = window as unknown as { counter: { frames: number; on: boolean; began: number } }
    counter.on = false
    return (counter.frames * 1000) / (performance.now() - counter.began)
  })
}

declare global {
  interface Window {
    seen: { shift: number; longest: number }
    marks: { name: string; startTime: number }[]
  }
}

/** Collect shifts of the layout, tasks of more than 50 ms and marks on every page opened from now on. */
export async function observe(page: Page) {
  await page.addInitScript(() => {
    window.marks = []
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) window.marks.push({ name, startTime })
    }).observe({ type: 'mark', buffered: true })
    const seen = { shift: 0, longest: 0 }
    window.seen = seen
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[]) {
        if (!entry.hadRecentInput) seen.shift += entry.value
      }
    }).observe({ type: 'layout-shift', buffered: true })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration)
    }).observe({ type: 'longtask', buffered: true })
  })
}

export const seen = (page: Page) => page.evaluate(() => window.seen)

/** Return the compressed bytes of the scripts that an address loads into an empty cache. */
export async function scriptBytes(page: Page, address: string): Promise<number> {
  const cdp = await page.context().newCDPSession(page)
  const scripts = new Set<string>()
  let bytes = 0
  cdp.on('Network.responseReceived', ({ requestId, type }) => type === 'Script' && scripts.add(requestId))
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength
  })
  await cdp.send('Network.enable')
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true })
  await page.goto(address)
  await page.waitForLoadState('networkidle')
  await cdp.detach()
  return bytes
}

/** Kinds of a heap snapshot that belong to the browser, not to the page. */
const OF_THE_BROWSER = ['code', 'hidden', 'native', 'object shape', 'synthetic']

interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[], ...unknown[]] } }
  nodes: number[]
}

/** Return the bytes of the objects, closures, arrays and strings of a page, after a collection of what is not in use. */
export async function heapOf(cdp: CDPSession): Promise<number> {
  // The second one takes what finalizers of the first set free.
  for (let turn = 0; turn < 2; turn++) await cdp.send('HeapProfiler.collectGarbage')
  const parts: string[] = []
  const collect = ({ chunk }: { chunk: string }) => parts.push(chunk)
  cdp.on('HeapProfiler.addHeapSnapshotChunk', collect)
  await cdp.send('HeapProfiler.takeHeapSnapshot')
  cdp.off('HeapProfiler.addHeapSnapshotChunk', collect)
  const { snapshot, nodes } = JSON.parse(parts.join('')) as Snapshot
  const { node_fields, node_types } = snapshot.meta
  const [type, size] = [node_fields.indexOf('type'), node_fields.indexOf('self_size')]
  let objects = 0
  for (let at = 0; at < nodes.length; at += node_fields.length) {
    const kind = node_types[0][nodes[at + type] as number] as string
    if (!OF_THE_BROWSER.includes(kind)) objects += nodes[at + size] as number
  }
  return objects
}
