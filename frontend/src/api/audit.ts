/** The audit log. */

import { infiniteQueryOptions } from '@tanstack/react-query'
import { get } from './client'
import type { components } from './schema.gen'

export type AuditEntry = components['schemas']['AuditEntryRead']

/** Selection of entries; a kind matches all actions that begin with it. */
export interface AuditSelection {
  kind?: string | undefined
  actor?: string | undefined
  subject?: string | undefined
  address?: string | undefined
  since?: string | undefined
  before?: string | undefined
}

const queryOf = ({ kind, actor, subject, address, since, before }: AuditSelection) => ({
  ...(kind ? { action: `${kind}.` } : {}),
  ...(actor ? { actor_name: actor } : {}),
  ...(subject ? { subject_name: subject } : {}),
  ...(address ? { address } : {}),
  ...(since ? { from: since } : {}),
  ...(before ? { to: before } : {}),
})

/** Entries, newest first, 100 a page. */
export const auditQuery = (selection: AuditSelection) =>
  infiniteQueryOptions({
    queryKey: ['audit', selection],
    queryFn: ({ pageParam }) =>
      get('/v1/audit-entries', {
        query: { ...queryOf(selection), limit: 100, ...(pageParam ? { cursor: pageParam } : {}) },
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  })

/** Return the address of the selected entries as a file. */
export const auditFile = (selection: AuditSelection, format: string) =>
  `/v1/audit-entries/export?${new URLSearchParams({ ...queryOf(selection), format })}`
