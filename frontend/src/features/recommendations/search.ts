/** Search parameters of a recommendation. */

import { identifier, integer, searchParser } from '~/lib/searchParams'

export interface RecommendationSearch {
  /** Number of its moves shown; all when absent. */
  moves?: number
}

/** What a request for moves begins with: the form of the list takes it over. */
export interface FindMovesSearch {
  /** Id of the mesh. */
  mesh?: string
  /** Id of the incident that the moves are for. */
  incident?: string
  /** Id of the application whose tasks may move; all when absent. */
  application?: string
}

export const findMovesSearch = searchParser<FindMovesSearch>({
  mesh: identifier,
  incident: identifier,
  application: identifier,
})

export const recommendationSearch = searchParser<RecommendationSearch>({ moves: integer(0) })
