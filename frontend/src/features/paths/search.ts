/** Search parameters of the path page. */

import * as v from 'valibot'
import { STATISTICS, type Statistic } from '~/lib/dimensions'
import { searchParser } from '~/lib/searchParams'

export const TABS = ['history', 'distribution', 'symmetry', 'flows', 'exchanges'] as const
export type Tab = (typeof TABS)[number]

export interface PathSearch {
  tab?: Tab
  statistic?: Statistic
  /** A spike whose exchanges are shown. */
  spike?: string
}

export const pathSearch = searchParser<PathSearch>(
  {
    tab: v.picklist(TABS),
    statistic: v.picklist(STATISTICS),
    spike: v.pipe(v.string(), v.regex(/^\d+-\d+-\d+$/)),
  },
  { tab: 'history', statistic: 'p50' },
)
