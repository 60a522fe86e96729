/** Search parameters of the alert rule pages. */

import * as v from 'valibot'
import { identifier, number, searchParser } from '~/lib/searchParams'

const AMONG = ['vms', 'applications', 'flows'] as const

export interface RulesSearch {
  /** Id; the first mesh when absent. */
  mesh?: string
}

export const rulesSearch = searchParser<RulesSearch>({ mesh: identifier })

/** A new rule; with both ends it begins as one about their path. */
export interface NewRuleSearch extends RulesSearch {
  /** Name of the VM that a path leads from. */
  source?: string
  /** Name of the VM that it leads to. */
  target?: string
  /** Members among which a rule compares shares; of flows with both ends of the path. */
  among?: (typeof AMONG)[number]
  /** Limit of its one-way p50, ns; without one the rule compares with the baseline of the path. */
  above?: number
}

// The router reads a name of digits as a number.
const vmName = v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.nonEmpty(), v.maxLength(200))

export const newRuleSearch = searchParser<NewRuleSearch>({
  mesh: identifier,
  source: vmName,
  target: vmName,
  among: v.picklist(AMONG),
  above: number(1),
})
