/** Search parameters of the path page. */

import * as v from 'valibot'
import { STATISTICS, type Statistic } from '~/lib/dimensions'
import { searchParser } from '~/lib/searchParams'

export interface PathSearch {
  statistic?: Statistic
}

export const pathSearch = searchParser<PathSearch>({ statistic: v.picklist(STATISTICS) }, { statistic: 'p50' })
