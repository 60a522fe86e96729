/** Search parameters of the incident list. */

import * as v from 'valibot'
import { searchParser } from '~/lib/searchParams'

/** States shown in the list; unresolved incidents by default. */
export const SHOWN_INCIDENTS = ['current', 'resolved', 'all'] as const
export type ShownIncidents = (typeof SHOWN_INCIDENTS)[number]

export interface IncidentsSearch {
  show?: ShownIncidents
}

export const incidentsSearch = searchParser<IncidentsSearch>({ show: v.picklist(SHOWN_INCIDENTS) }, { show: 'current' })
