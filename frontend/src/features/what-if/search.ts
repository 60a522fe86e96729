/** Search parameters of the what-if page. */

import * as v from 'valibot'
import { type Change, parseChanges } from '~/lib/changes'
import { flag, identifier, integer, searchParser } from '~/lib/searchParams'

/** Look-backs in minutes to choose from. */
export const LOOK_BACKS = [30, 120, 1_440]

export interface WhatIfSearch {
  mesh?: string
  changes?: Change[]
  /** Find VMs for unplaced tasks. */
  place?: boolean
  /** Look-back in minutes; absent: the newest window of each path, as on the pages of applications. */
  minutes?: number
  /** Id of the open saved scenario. */
  scenario?: string
}

export const whatIfSearch = searchParser<WhatIfSearch>({
  mesh: identifier,
  changes: v.pipe(v.unknown(), v.transform(parseChanges)) as v.GenericSchema<unknown, Change[]>,
  place: flag,
  minutes: v.pipe(integer(2), v.maxValue(1_440)),
  scenario: identifier,
})
