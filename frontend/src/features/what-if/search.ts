/** Search parameters of the what-if page. */

import * as v from 'valibot'
import { type Change, parseChanges } from '~/lib/changes'
import { flag, identifier, searchParser } from '~/lib/searchParams'

export interface WhatIfSearch {
  mesh?: string
  changes?: Change[]
  /** Find VMs for unplaced tasks. */
  place?: boolean
  /** Id of the open saved scenario. */
  scenario?: string
}

export const whatIfSearch = searchParser<WhatIfSearch>({
  mesh: identifier,
  changes: v.pipe(v.unknown(), v.transform(parseChanges)) as v.GenericSchema<unknown, Change[]>,
  place: flag,
  scenario: identifier,
})
