import type { OpenIncident } from '~/api/overview'
import { formatShare } from '~/lib/performance'
import { strings } from './strings'

const NAMED = 3

/** Return the applications an incident costs performance, most first, and the number of others it affects. */
export function costsOf({ applications }: OpenIncident): { named: string[]; others: number } {
  const costs = applications
    .flatMap(({ name, performance }) => (performance === null ? [] : [{ name, cost: 1 - performance }]))
    // A smaller cost is written as 0.0 %.
    .filter(({ cost }) => cost >= 0.0005)
    .sort((a, b) => b.cost - a.cost)
    .slice(0, NAMED)
  return {
    named: costs.map(({ name, cost }) => strings.costOf(name, formatShare(cost))),
    others: applications.length - costs.length,
  }
}

/** Return the costs of an incident as a list: "checkout 18.0 %, 2 other applications". */
export function costWords(incident: OpenIncident): string {
  const { named, others } = costsOf(incident)
  if (named.length === 0) return others > 0 ? strings.applicationCount(others) : strings.none
  return (others > 0 ? [...named, strings.otherApplications(others)] : named).join(', ')
}

/** Return the costs of an incident as a sentence. */
export function costSentence(incident: OpenIncident): string {
  const { named, others } = costsOf(incident)
  if (named.length > 0) return strings.costs(costWords(incident))
  return others > 0 ? strings.affects(costWords(incident)) : strings.noneAffected
}
