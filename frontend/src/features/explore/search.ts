/** Search parameters of the explore page. */

import * as v from 'valibot'
import { GRANULARITIES, type Granularity, METRICS, type Metric, STATISTICS, type Statistic } from '~/lib/dimensions'
import { COMPARED_MAX, searchParser } from '~/lib/searchParams'

export const VIEWS = ['series', 'distribution', 'variability', 'losses', 'movers', 'spikes'] as const
export type View = (typeof VIEWS)[number]

export interface ExploreSearch {
  show?: View
  /** Selections of paths, comma-separated: `mesh`, `path:A:B`, `zones:A:B`. */
  of?: string
  metric?: Metric
  statistic?: Statistic
  by?: Granularity
  interval?: '1h' | '1d'
  /** A spike whose exchanges are shown. */
  spike?: string
}

const SELECTION = /^(mesh|(path|zones):[\w-]{36}:[\w-]{36})$/

/** Return the selections of an address, each once; the whole mesh when there is none. */
export function selections(of: string | undefined): string[] {
  const valid = [...new Set((of ?? '').split(',').filter((selection) => SELECTION.test(selection)))]
  return valid.length > 0 ? valid.slice(0, COMPARED_MAX) : ['mesh']
}

export const exploreSearch = searchParser<ExploreSearch>(
  {
    show: v.picklist(VIEWS),
    of: v.pipe(
      v.string(),
      v.transform((text) => selections(text).join(',')),
    ),
    metric: v.picklist(METRICS),
    statistic: v.picklist(STATISTICS),
    by: v.picklist(GRANULARITIES),
    interval: v.picklist(['1h', '1d']),
    spike: v.pipe(v.string(), v.regex(/^\d+-\d+-\d+$/)),
  },
  {
    show: 'series',
    of: 'mesh',
    metric: 'one_way_delay',
    statistic: 'p50',
    by: 'vm',
    interval: '1h',
  },
)
