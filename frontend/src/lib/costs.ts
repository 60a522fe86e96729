/** Costs of an incident to the applications it affects, in words. */

import { formatPoints } from './performance'
import { strings } from './strings'

export const { noneAffected } = strings

const NAMED = 3

/** The applications on the paths of an incident, with the performance lost on these paths. */
interface Affected {
  applications: readonly { name: string; cost: number | null }[]
}

interface Costs {
  /** The applications that lose most performance, with the points lost. */
  named: string[]
  /** The number of other affected applications. */
  others: number
  /** The cost of all affected applications is known. */
  isKnown: boolean
}

/** Return what an incident costs the applications it affects. */
function costsOf({ applications }: Affected): Costs {
  const named = applications
    .flatMap(({ name, cost }) => (cost === null ? [] : [{ name, cost }]))
    // A smaller cost is written as 0.0 points.
    .filter(({ cost }) => cost >= 0.0005)
    .sort((a, b) => b.cost - a.cost)
    .slice(0, NAMED)
    .map(({ name, cost }) => strings.costOf(name, formatPoints(cost)))
  return {
    named,
    others: applications.length - named.length,
    isKnown: applications.every(({ cost }) => cost !== null),
  }
}

/** Return the costs of an incident as a list: "checkout 18.0 points, 2 other applications". */
export function costWords(incident: Affected): string {
  const { named, others, isKnown } = costsOf(incident)
  if (named.length === 0) return others > 0 && !isKnown ? strings.applicationCount(others) : strings.none
  return (others > 0 ? [...named, strings.otherApplications(others)] : named).join(', ')
}

/** Return the costs of an incident as a sentence. */
export function costSentence(incident: Affected): string {
  const { named, others, isKnown } = costsOf(incident)
  if (named.length > 0) return strings.costs(costWords(incident))
  if (others === 0) return strings.noneAffected
  return isKnown ? strings.costsNothing(strings.applicationCount(others)) : strings.affects(costWords(incident))
}
