/** Search parameters of the path page. */

import * as v from 'valibot'
import { STATISTICS, type Statistic } from '~/lib/dimensions'
import { flag, number, searchParser } from '~/lib/searchParams'

export const TABS = ['history', 'why', 'distribution', 'symmetry', 'budget', 'flows', 'exchanges', 'on-demand'] as const
export type Tab = (typeof TABS)[number]

/** Longest distance between the ends of a path, km: the most that the API takes. */
export const DISTANCE_KM_MAX = 50_000

export interface PathSearch {
  tab?: Tab
  statistic?: Statistic
  /** A spike whose exchanges are shown. */
  spike?: string
  /** The measurement on demand that is shown. */
  run?: string
  /** The latency budget of round trips. */
  rounds?: true | undefined
  /** Distance between the ends, for the latency budget. */
  km?: number | undefined
}

export const pathSearch = searchParser<PathSearch>(
  {
    tab: v.picklist(TABS),
    statistic: v.picklist(STATISTICS),
    spike: v.pipe(v.string(), v.regex(/^\d+-\d+-\d+$/)),
    run: v.pipe(v.string(), v.uuid()),
    rounds: flag,
    km: v.pipe(number(0), v.maxValue(DISTANCE_KM_MAX)),
  },
  { tab: 'history', statistic: 'p50' },
)
