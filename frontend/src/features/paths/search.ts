/** Search parameters of the path page. */

import * as v from 'valibot'
import { STATISTICS, type Statistic } from '~/lib/dimensions'
import { keyOf, searchParser } from '~/lib/searchParams'
import { RANGES, type Range } from '~/lib/spans'

export interface PathSearch {
  last?: Range
  statistic?: Statistic
}

export const pathSearch = searchParser<PathSearch>(
  { last: keyOf(RANGES), statistic: v.picklist(STATISTICS) },
  { last: '15m', statistic: 'p50' },
)
