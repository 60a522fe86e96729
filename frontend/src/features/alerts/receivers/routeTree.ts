/** The tree of routes. A place is the list of indices from the root: [1, 0] is the first child of the second branch. */

import type { Route } from '~/api/receivers'
import { matcherWords } from '../matcherWords'
import { strings } from '../strings'

export type Place = readonly number[]

export interface Branch {
  place: Place
  route: Route
}

export const NEW_BRANCH: Route = {
  matchers: [{ label: 'severity', value: 'critical', negate: false }],
  receivers: [],
  repeat_s: null,
  resolved: null,
  hold_s: null,
  continue_: false,
  routes: [],
}

/** Return all branches below the root, each before its children. */
export function branches({ routes }: Route, inside: Place = []): Branch[] {
  return (routes ?? []).flatMap((route, at) => {
    const place = [...inside, at]
    return [{ place, route }, ...branches(route, place)]
  })
}

function inside(root: Route, place: Place, change: (routes: Route[], at: number) => Route[]): Route {
  const [first, ...rest] = place
  if (first === undefined) return root
  const routes = [...(root.routes ?? [])]
  const branch = routes[first]
  if (rest.length === 0 || !branch) return { ...root, routes: change(routes, first) }
  routes[first] = inside(branch, rest, change)
  return { ...root, routes }
}

/** Return the tree with the branch at a place replaced, children included. */
export const replaced = (root: Route, place: Place, route: Route) =>
  inside(root, place, (routes, at) => routes.with(at, route))

/** Return the tree without a branch and its children. */
export const removed = (root: Route, place: Place) =>
  inside(root, place, (routes, at) => routes.filter((_, number) => number !== at))

/** The tree with a branch before the one it came after; the first stays first. */
export const raised = (root: Route, place: Place) =>
  inside(root, place, (routes, at) => {
    const [above, own] = [routes[at - 1], routes[at]]
    return above && own ? routes.with(at - 1, own).with(at, above) : routes
  })

/** Return the tree with another branch, the last below a place; [] is the root. */
export const added = (root: Route, place: Place, route: Route): Route =>
  place.length === 0
    ? { ...root, routes: [...(root.routes ?? []), route] }
    : inside(root, place, (routes, at) => {
        const branch = routes[at]
        return branch ? routes.with(at, added(branch, [], route)) : routes
      })

/** "Severity is critical and Zone is eu-*". */
export const takes = ({ matchers }: Route) =>
  (matchers ?? []).length === 0 ? strings.allIncidents : (matchers ?? []).map(matcherWords).join(strings.and)

const HOUR_S = 3600
export const REPEATS = [
  { value: '', label: strings.inherited },
  { value: '1800', label: strings.every30Minutes },
  { value: `${HOUR_S}`, label: strings.everyHour },
  { value: `${4 * HOUR_S}`, label: strings.every4Hours },
  { value: `${24 * HOUR_S}`, label: strings.everyDay },
  { value: `${168 * HOUR_S}`, label: strings.everyWeek },
]

export const HOLDS = [
  { value: '', label: strings.inherited },
  { value: '0', label: strings.eachByItself },
  { value: `${HOUR_S}`, label: strings.atMost1Hour },
  { value: `${4 * HOUR_S}`, label: strings.atMost4Hours },
  { value: `${24 * HOUR_S}`, label: strings.atMost1Day },
]

/** Return choices of a time in seconds that include the present one. */
export const withPresent = (
  choices: { value: string; label: string }[],
  seconds: number | null | undefined,
  label: (seconds: number) => string,
) =>
  choices.some(({ value }) => value === String(seconds ?? ''))
    ? choices
    : [...choices, { value: String(seconds), label: label(seconds ?? 0) }]

/** Describe the options of a route that differ from its parent, and whether later routes are tried too. */
export function terms({ repeat_s, resolved, hold_s, continue_ }: Route): string {
  const labelOf = (choices: typeof REPEATS, seconds: number | null | undefined) =>
    choices.find(({ value }) => value === String(seconds ?? ''))?.label ?? ''
  const repeat = labelOf(withPresent(REPEATS, repeat_s, strings.everySeconds), repeat_s)
  const hold = labelOf(withPresent(HOLDS, hold_s, strings.atMostSeconds), hold_s)
  const parts = [
    repeat_s ? strings.repeats(repeat.toLowerCase()) : '',
    resolved === false ? strings.resolvedSilent : resolved ? strings.resolvedNotified : '',
    hold_s === 0 ? strings.eachAtOnce : hold_s ? strings.groups(hold.toLowerCase()) : '',
    continue_ ? strings.continues : '',
  ].filter(Boolean)
  return parts.join('; ')
}
