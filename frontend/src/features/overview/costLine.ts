/** What the open incidents of a mesh cost its applications, in words. */

import type { MeshHealth, OpenIncident } from '~/api/overview'
import { formatPoints, formatShare } from '~/lib/performance'
import { formatRatio, formatSignedDelay } from '~/lib/units'
import { strings } from './strings'

/** A smaller cost is written as 0.0 points. */
const COST_MIN = 0.0005

/** Return the applications that lose performance by an incident, the costliest first. */
const losersOf = ({ applications }: OpenIncident) =>
  applications
    .flatMap(({ cost, ...application }) => (cost === null || cost < COST_MIN ? [] : [{ ...application, cost }]))
    .sort((a, b) => b.cost - a.cost)

/** Return the change that an incident is about, in words: ", +15.0 ms"; empty where it has no such figure. */
export function changeWords({ metric, rise_ns, loss }: OpenIncident): string {
  if (metric === 'loss') return loss === null || loss === 1 ? '' : `, ${strings.shareLost(formatRatio(loss))}`
  return rise_ns === null || metric === null ? '' : `, ${formatSignedDelay(rise_ns)}`
}

/** Return the first applications that lose performance by an incident: "checkout 18.0 points, cache 6.0 points". */
export const costWords = (incident: OpenIncident, most?: number) =>
  losersOf(incident)
    .slice(0, most)
    .map(({ name, cost }) => `${name} ${formatPoints(cost)}`)
    .join(', ') || strings.none

/** Return what the first incident costs, then what others cost; that none costs anything is said of all of them. */
export function costLine({ name, open_incidents, worst_incidents }: MeshHealth): string {
  const [first, ...others] = worst_incidents.map(losersOf)
  const named = (first ?? []).map(({ name, performance, objective, cost }) =>
    strings.losesNow(
      name,
      formatPoints(cost),
      formatShare(performance),
      objective === null ? '' : formatShare(objective),
    ),
  )
  const known = new Set(first?.map(({ id }) => id))
  const more = new Map(others.flat().map(({ id, name, cost }) => [id, strings.losesToo(name, formatPoints(cost))]))
  const further = [...more].filter(([id]) => !known.has(id)).map(([, words]) => words)
  if (named.length + further.length > 0) return [...named, ...further].join(' ')
  const isAll = worst_incidents.every(({ applications }) => applications.every(({ cost }) => cost !== null))
  return isAll && open_incidents > 0 ? strings.noneLoses(name) : ''
}
