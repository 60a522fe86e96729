/** Search parameters of the curve pages. */

import * as v from 'valibot'
import { GRANULARITIES, type Granularity } from '~/lib/dimensions'
import { COMPARED_MAX, identifier, integer, number, searchParser } from '~/lib/searchParams'

/** Waiting patterns: rounds wait for the slowest of many round trips, single requests hardly wait for each other. */
export const WAITINGS = ['rounds', 'requests'] as const
export type WaitingPattern = (typeof WAITINGS)[number]

export interface CurvesSearch {
  /** Ids of the curves drawn together, comma-separated. */
  compare?: string
  /** Added latency in µs at which the curves are read. */
  added?: number
}

export interface CurveSearch {
  /** Version; the newest when absent. */
  number?: number
  added?: number
  /** Round trip of the test bed, in µs; the curve's own when absent. */
  reference?: number
  waiting?: WaitingPattern
  /** Source of the measured round trips: a mesh, and a pair of its VMs or zones. */
  mesh?: string
  by?: Granularity
  source?: string
  target?: string
}

export interface LearningSearch {
  /** Id of the curve to refresh. */
  curve?: string
}

/** Return the ids of compared curves in the order they were chosen, each once. */
export function compared(compare: string | undefined): string[] {
  const ids = (compare ?? '').split(',').filter((id) => v.is(identifier, id))
  return [...new Set(ids)].slice(0, COMPARED_MAX)
}

export const curvesSearch = searchParser<CurvesSearch>({
  compare: v.pipe(
    v.string(),
    v.transform((text) => compared(text).join(',')),
    v.nonEmpty(),
  ),
  added: number(0),
})

export const curveSearch = searchParser<CurveSearch>(
  {
    number: integer(1),
    added: number(0),
    reference: number(0),
    waiting: v.picklist(WAITINGS),
    mesh: identifier,
    by: v.picklist(GRANULARITIES),
    source: identifier,
    target: identifier,
  },
  { by: 'vm' },
)

export const learningSearch = searchParser<LearningSearch>({ curve: identifier })
