/** Search parameters of a recommendation. */

import { integer, searchParser } from '~/lib/searchParams'

export interface RecommendationSearch {
  /** How many of its moves are looked at; all when absent. */
  moves?: number
}

export const recommendationSearch = searchParser<RecommendationSearch>({ moves: integer(0) })
