/** Receivers as people read them, and who hears of what. */

import type { Delivery, Receiver, ReceiverKind, Route } from '~/api/receivers'

export const RECEIVER_KINDS: Record<ReceiverKind, string> = {
  email: 'E-mail',
  webhook: 'Webhook',
  slack: 'Slack',
  pagerduty: 'PagerDuty',
  teams: 'Microsoft Teams',
}

export const DELIVERY_STATES: Record<Delivery['state'], string> = {
  waiting: 'Waiting',
  sent: 'Sent',
  failed: 'Failed',
}

/** Where a receiver leads, as far as that is no secret. */
export function destination({ kind, settings }: Receiver): string {
  if (kind === 'email') return (Array.isArray(settings.to) ? settings.to : []).join(', ')
  return typeof settings.url === 'string' ? settings.url : 'kept secret'
}

const isNamed = ({ receivers, routes }: Route, name: string): boolean =>
  (receivers ?? []).includes(name) || (routes ?? []).some((branch) => isNamed(branch, name))

/** Whether the root names a receiver, so that it hears what no branch of the tree takes. */
export const isAtRoot = ({ receivers }: Route, name: string) => (receivers ?? []).includes(name)

/** What a receiver hears of, by the tree of routes. */
export function hears(root: Route, name: string): string {
  if (isAtRoot(root, name)) return (root.routes ?? []).length === 0 ? 'every incident' : 'what no branch takes'
  return isNamed(root, name) ? 'what its branches take' : 'nothing'
}

/** The tree with a receiver named by its root, or not; branches stay as they are. */
export function atRoot(root: Route, name: string, named: boolean): Route {
  const others = (root.receivers ?? []).filter((one) => one !== name)
  return { ...root, receivers: named ? [...others, name] : others }
}
