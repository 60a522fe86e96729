/** Search parameters of the fairness page. */

import * as v from 'valibot'
import type { Fairness } from '~/api/types'
import { identifier, integer, searchParser } from '~/lib/searchParams'

export type FairnessOf = Fairness['of']
export const OF: readonly FairnessOf[] = ['vms', 'applications', 'metric_sources', 'flows']

export interface FairnessSearch {
  mesh?: string
  of?: FairnessOf
  minutes?: number
  source?: string
  target?: string
}

const name = v.pipe(v.string(), v.nonEmpty(), v.maxLength(100))

export const fairnessSearch = searchParser<FairnessSearch>(
  { mesh: identifier, of: v.picklist(OF), minutes: integer(2), source: name, target: name },
  { of: 'vms', minutes: 60 },
)
