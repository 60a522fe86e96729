/**
 * Published one-way delays between VMs of public clouds, to compare one's own with.
 *
 * Source: D. A. Popescu, Latency-driven performance in data centres, UCAM-CL-TR-937, 2019, table 4.3: traces of PTPd of
 * hours to a week between two VMs, 2017 to 2018. All are within one zone but GCE-USW2, which is between two zones of
 * us-west1 (section 4.2). There are no figures between regions.
 */

import table from '../../../backend/sinemora/measurements/latency_budget/published_delays.csv?raw'

export const PUBLISHED_SOURCE = 'D. A. Popescu, UCAM-CL-TR-937, table 4.3'

export const PATH_CLASSES = ['same_zone', 'between_zones', 'between_regions', 'between_providers'] as const
/** Class of a path by the places of its ends. */
export type PathClass = (typeof PATH_CLASSES)[number]

/** Providers by the names that agents report. */
export const PROVIDERS: Record<string, string> = { aws: 'AWS EC2', azure: 'Azure', gcp: 'Google Cloud' }

/** A line each: provider, path class, trace, day, messages a second, then µs: mean, p50, p99, … */
const TRACES = table
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(','))

interface Zone {
  id: string
  provider: string
  region: string
}

/** Return the class of the paths between two zones. */
export function classOf(source: Zone, target: Zone): PathClass {
  if (source.provider !== target.provider) return 'between_providers'
  if (source.region !== target.region) return 'between_regions'
  return source.id === target.id ? 'same_zone' : 'between_zones'
}

/** Smallest and largest value, ns. */
export type Extent = readonly [low: number, high: number]

/** The p50 and the p99 of several paths or traces as ranges. */
export interface Delays {
  p50: Extent
  p99: Extent
  count: number
}

/** Return the extents of the p50 and p99 (ns) of several distributions; null for none. */
export function delaysOf(of: readonly { p50: number; p99: number }[]): Delays | null {
  if (of.length === 0) return null
  const extent = (values: number[]): Extent => [Math.min(...values), Math.max(...values)]
  return { p50: extent(of.map(({ p50 }) => p50)), p99: extent(of.map(({ p99 }) => p99)), count: of.length }
}

/** Published delays of a provider, with the years they were measured in. */
export type Published = Delays & { years: readonly [first: string, last: string] }

/** Return the published delays of a provider between VMs found like this; null where there is no figure. */
export function publishedDelays(provider: string, pathClass: PathClass): Published | null {
  const traces = TRACES.filter((trace) => trace[0] === provider && trace[1] === pathClass)
  const delays = delaysOf(traces.map((trace) => ({ p50: Number(trace[6]) * 1_000, p99: Number(trace[7]) * 1_000 })))
  const years = traces.map((trace) => String(trace[3]).slice(0, 4)).sort()
  return delays && { ...delays, years: [years[0] as string, years.at(-1) as string] }
}
