import type { AuditEntry } from '~/api/audit'
import { strings } from './strings'

interface Change {
  before: unknown
  after: unknown
}

// Shown in columns of their own, or by the changes.
const ELSEWHERE = new Set(['changes', 'fields', 'address'])

/** Return one line for each change of an entry, then for each further detail. */
export function changeLines({ detail }: Pick<AuditEntry, 'detail'>): string[] {
  const changes = Object.entries((detail.changes ?? {}) as Record<string, Change>)
  const others = Object.entries(detail).filter(([name]) => !ELSEWHERE.has(name))
  return [
    ...changes.map(([field, { before, after }]) =>
      after === 'hidden' ? strings.detail(field, strings.hidden) : strings.change(field, shown(before), shown(after)),
    ),
    ...others.map(([field, value]) => strings.detail(field, shown(value))),
  ]
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === '') return strings.empty
  return typeof value === 'string' ? value : JSON.stringify(value)
}
