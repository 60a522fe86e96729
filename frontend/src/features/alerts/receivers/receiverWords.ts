/** Texts of receivers, and of the incidents each is notified of. */

import type { Receiver, ReceiverKind, Route } from '~/api/receivers'
import { formatAge } from '~/lib/time'
import { strings } from '../strings'

export const RECEIVER_KINDS: Record<ReceiverKind, string> = {
  email: strings.email,
  webhook: strings.webhook,
  slack: strings.slack,
  pagerduty: strings.pagerDuty,
  teams: strings.microsoftTeams,
  alertmanager: strings.alertmanager,
  opsgenie: strings.opsgenie,
  heartbeat: strings.heartbeat,
}

/** Return the destination of a receiver, without secrets. */
export function destination({ kind, settings }: Receiver): string {
  if (kind === 'email') return (Array.isArray(settings.to) ? settings.to : []).join(', ')
  return typeof settings.url === 'string' ? settings.url : strings.hidden
}

const isNamed = ({ receivers, routes }: Route, name: string): boolean =>
  (receivers ?? []).includes(name) || (routes ?? []).some((branch) => isNamed(branch, name))

/** Return true when the root names a receiver: it is notified of incidents that match no route. */
export const isAtRoot = ({ receivers }: Route, name: string) => (receivers ?? []).includes(name)

/** Describe the heartbeats of a receiver: the newest one and its result. */
export function receivedHeartbeats({ heartbeat_at, heartbeat_answer }: Receiver, now: number): string {
  if (!heartbeat_at) return strings.noHeartbeat
  return strings.heartbeatAgo(formatAge(now - Date.parse(heartbeat_at)), heartbeat_answer ?? '')
}

/** Describe the incidents a receiver is notified of, by the tree of routes. */
export function receivedIncidents(root: Route, name: string): string {
  if (isAtRoot(root, name)) return (root.routes ?? []).length === 0 ? strings.everyIncident : strings.unmatchedIncidents
  return isNamed(root, name) ? strings.incidentsOfRoutes : strings.nothing
}

/** Return the tree with a receiver named by its root, or not; branches stay as they are. */
export function atRoot(root: Route, name: string, named: boolean): Route {
  const others = (root.receivers ?? []).filter((receiver) => receiver !== name)
  return { ...root, receivers: named ? [...others, name] : others }
}
