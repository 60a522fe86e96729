/** What each kind of receiver asks for, and where that goes in the body. Secrets are never shown again. */

import type { Receiver, ReceiverInput, ReceiverKind } from '~/api/receivers'

export interface ReceiverField {
  name: string
  label: string
  type: 'url' | 'text' | 'password'
  part: 'settings' | 'secret'
  placeholder?: string
  optional?: boolean
  /** Several, apart by commas or spaces. */
  many?: boolean
}

export const RECEIVER_FIELDS: Record<ReceiverKind, ReceiverField[]> = {
  email: [{ name: 'to', label: 'To', type: 'text', part: 'settings', placeholder: 'ops@example.com, …', many: true }],
  webhook: [
    { name: 'url', label: 'Address', type: 'url', part: 'settings', placeholder: 'https://example.com/hooks/1' },
    { name: 'key', label: 'Key that signs', type: 'password', part: 'secret', placeholder: 'none', optional: true },
  ],
  slack: [
    { name: 'url', label: 'Address of the incoming webhook', type: 'url', part: 'secret', placeholder: 'https://…' },
  ],
  pagerduty: [{ name: 'routing_key', label: 'Routing key', type: 'password', part: 'secret' }],
  teams: [{ name: 'url', label: 'Address of the workflow', type: 'url', part: 'secret', placeholder: 'https://…' }],
}

const split = (text: string) => text.split(/[\s,;]+/).filter(Boolean)

/** What was typed as settings and secret; no secret where none was typed. Settings a kind does not ask for stay. */
export function bodyOf(
  kind: ReceiverKind,
  typed: Record<string, string>,
  before: Receiver['settings'] = {},
): Pick<ReceiverInput, 'settings' | 'secret'> {
  const settings: Record<string, unknown> = { ...before }
  const secret: Record<string, string> = {}
  for (const { name, part, many } of RECEIVER_FIELDS[kind]) {
    const text = (typed[name] ?? '').trim()
    if (part === 'settings') settings[name] = many ? split(text) : text
    else if (text) secret[name] = text
  }
  return { settings, ...(Object.keys(secret).length > 0 ? { secret } : {}) }
}

/** A setting as it is typed; nothing of a secret. */
export function typedOf({ settings }: Receiver, { name, part }: ReceiverField): string {
  if (part === 'secret') return ''
  const value = settings[name]
  return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : ''
}
