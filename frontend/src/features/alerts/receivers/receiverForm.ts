/** The fields of each kind of receiver, and their place in the body. Secrets are never shown again. */

import type { Receiver, ReceiverInput, ReceiverKind } from '~/api/receivers'
import { strings } from '../strings'

export interface ReceiverField {
  name: string
  label: string
  type: 'url' | 'text' | 'password' | 'checkbox'
  part: 'settings' | 'secret'
  placeholder?: string
  optional?: boolean
  /** Several, apart by commas or spaces. */
  many?: boolean
}

export const RECEIVER_FIELDS: Record<ReceiverKind, ReceiverField[]> = {
  email: [
    {
      name: 'to',
      label: strings.emailTo,
      type: 'text',
      part: 'settings',
      placeholder: strings.emailExample,
      many: true,
    },
    { name: 'contract_report', label: strings.contractReport, type: 'checkbox', part: 'settings' },
  ],
  webhook: [
    { name: 'url', label: strings.url, type: 'url', part: 'settings', placeholder: 'https://example.com/hooks/1' },
    {
      name: 'key',
      label: strings.signingKey,
      type: 'password',
      part: 'secret',
      placeholder: strings.optional,
      optional: true,
    },
    { name: 'accepted_moves', label: strings.acceptedMoves, type: 'checkbox', part: 'settings' },
  ],
  slack: [{ name: 'url', label: strings.slackUrl, type: 'url', part: 'secret', placeholder: strings.urlExample }],
  pagerduty: [{ name: 'routing_key', label: strings.routingKey, type: 'password', part: 'secret' }],
  heartbeat: [
    { name: 'url', label: strings.heartbeatUrl, type: 'url', part: 'secret', placeholder: strings.urlExample },
  ],
  alertmanager: [{ name: 'url', label: strings.url, type: 'url', part: 'secret', placeholder: strings.urlExample }],
  opsgenie: [{ name: 'api_key', label: strings.apiKey, type: 'password', part: 'secret' }],
  teams: [{ name: 'url', label: strings.workflowUrl, type: 'url', part: 'secret', placeholder: strings.urlExample }],
}

const split = (text: string) => text.split(/[\s,;]+/).filter(Boolean)

/** Return the typed settings and the secret, if typed. Settings without a field are kept. */
export function bodyOf(
  kind: ReceiverKind,
  typed: Record<string, string>,
  before: Receiver['settings'] = {},
): Pick<ReceiverInput, 'settings' | 'secret'> {
  const settings: Record<string, unknown> = { ...before }
  const secret: Record<string, string> = {}
  for (const { name, part, many, type } of RECEIVER_FIELDS[kind]) {
    const text = (typed[name] ?? '').trim()
    if (type === 'checkbox') settings[name] = text !== ''
    else if (part === 'settings') settings[name] = many ? split(text) : text
    else if (text) secret[name] = text
  }
  return { settings, ...(Object.keys(secret).length > 0 ? { secret } : {}) }
}

/** Return a setting as text; empty for a secret. */
export function typedOf({ settings }: Pick<Receiver, 'settings'>, { name, part }: ReceiverField): string {
  if (part === 'secret') return ''
  const value = settings[name]
  return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : ''
}
