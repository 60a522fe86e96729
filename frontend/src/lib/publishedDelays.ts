/**
 * Published one-way delays between VMs of public clouds, to compare one's own with.
 *
 * Source: D. A. Popescu, Latency-driven performance in data centres, UCAM-CL-TR-937, 2019, table 4.3: traces of PTPd of
 * hours to a week between two VMs, 2017 to 2018. All are within one zone but GCE-USW2, which is between two zones of
 * us-west1 (section 4.2). There are no figures between regions.
 */

export const PUBLISHED_SOURCE = 'D. A. Popescu, UCAM-CL-TR-937, table 4.3'

export const PATH_CLASSES = ['same_zone', 'between_zones', 'between_regions', 'between_providers'] as const
/** Class of a path by the places of its ends. */
export type PathClass = (typeof PATH_CLASSES)[number]

/** Providers by the names that agents report. */
export const PROVIDERS: Record<string, string> = { aws: 'AWS EC2', azure: 'Azure', gcp: 'Google Cloud' }

type Trace = readonly [provider: string, pathClass: PathClass, name: string, day: string, p50Us: number, p99Us: number]

const TRACES: readonly Trace[] = [
  ['aws', 'same_zone', 'EC2-EUW-1', '2017-11-06', 289.57, 415.18],
  ['aws', 'same_zone', 'EC2-EUW-2', '2017-11-06', 345.17, 481.53],
  ['aws', 'same_zone', 'EC2-EUW-3', '2017-11-06', 350.97, 459.5],
  ['aws', 'same_zone', 'EC2-USW-1', '2017-11-07', 256.93, 335.08],
  ['aws', 'same_zone', 'EC2-USW-2', '2017-11-07', 275.86, 361.42],
  ['aws', 'same_zone', 'EC2-USW-3', '2017-11-07', 283.44, 363.88],
  ['gcp', 'same_zone', 'GCE-EUW-1', '2017-10-16', 97.1, 1200],
  ['gcp', 'same_zone', 'GCE-EUW-2', '2017-10-16', 87.34, 1440],
  ['gcp', 'same_zone', 'GCE-EUW-3', '2017-10-16', 82.97, 1380],
  ['gcp', 'same_zone', 'GCE-USW-1', '2017-10-16', 76.9, 120.34],
  ['gcp', 'same_zone', 'GCE-USW-2', '2017-10-16', 71.35, 92.24],
  ['gcp', 'same_zone', 'GCE-USW-3', '2017-10-16', 78.79, 104.34],
  ['gcp', 'between_zones', 'GCE-USW2-1', '2017-04-07', 180.66, 526.84],
  ['azure', 'same_zone', 'Azure-UKW-1', '2017-09-13', 447, 529.27],
  ['azure', 'same_zone', 'Azure-UKW-2', '2017-09-13', 441.3, 522.88],
  ['azure', 'same_zone', 'Azure-UKW-3', '2017-09-13', 419.62, 483.48],
  ['azure', 'same_zone', 'Azure-USW-1', '2017-09-13', 315.14, 357.72],
  ['azure', 'same_zone', 'Azure-USW-2', '2017-09-13', 281.21, 330.64],
  ['azure', 'same_zone', 'Azure-USW-3', '2017-09-13', 358.46, 415.68],
  ['azure', 'same_zone', 'Azure-UKS-N1', '2018-02-22', 261.31, 363.22],
  ['azure', 'same_zone', 'Azure-UKS-A1', '2018-02-22', 94.54, 139.79],
  ['aws', 'same_zone', 'EC2-USE-1', '2018-02-19', 172.05, 291.55],
  ['aws', 'same_zone', 'EC2-USE-2', '2018-02-19', 190.08, 293.74],
  ['aws', 'same_zone', 'EC2-USE-3', '2018-02-19', 196.83, 301.86],
  ['gcp', 'same_zone', 'GCE-USW-1', '2017-12-22', 64.33, 89.08],
  ['gcp', 'same_zone', 'GCE-USW-2', '2017-12-22', 69.47, 92.8],
  ['gcp', 'same_zone', 'GCE-USW-3', '2017-12-22', 57.94, 76.02],
  ['azure', 'same_zone', 'Azure-UKS-1', '2018-02-17', 269.34, 684.45],
  ['azure', 'same_zone', 'Azure-UKS-2', '2018-02-17', 249.55, 724.43],
  ['azure', 'same_zone', 'Azure-UKS-3', '2018-02-17', 322.17, 760.13],
  ['azure', 'same_zone', 'Azure-UKS-A2', '2018-02-23', 82.28, 118.92],
]

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
  const delays = delaysOf(traces.map(([, , , , p50, p99]) => ({ p50: p50 * 1_000, p99: p99 * 1_000 })))
  const years = traces.map(([, , , day]) => day.slice(0, 4)).sort()
  return delays && { ...delays, years: [years[0] as string, years.at(-1) as string] }
}
