/** Search parameters of a recommendation. */

import { integer, searchParser } from '~/lib/searchParams'

export interface RecommendationSearch {
  /** Number of its moves shown; all when absent. */
  moves?: number
}

export const recommendationSearch = searchParser<RecommendationSearch>({ moves: integer(0) })
