/** Search parameters of the alert rule pages. */

import { identifier, searchParser } from '~/lib/searchParams'

export interface RulesSearch {
  /** Id; the first mesh when absent. */
  mesh?: string
}

export const rulesSearch = searchParser<RulesSearch>({ mesh: identifier })
