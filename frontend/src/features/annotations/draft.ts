/** An annotation as typed in its form, and as the API takes it. */

import type { Annotation, AnnotationInput } from '~/api/annotations'
import type { AnnotationKind } from '~/lib/annotations'
import { fieldOf, momentOf } from '~/lib/moments'
import type { Clock } from '~/lib/time'

export const SCOPES = ['all', 'vms', 'zones', 'applications'] as const
export type ScopeKind = (typeof SCOPES)[number]

export interface Draft {
  kind: AnnotationKind
  text: string
  /** As a field of the browser takes it, in the zone of displayed times: "2026-11-20T23:10:05"; empty: now. */
  starts: string
  /** Empty: an event without duration. */
  ends: string
  /** Empty: all meshes. */
  meshId: string
  scope: ScopeKind
  ids: string[]
  source: string
  url: string
  /** Ids of other kinds, which the form keeps. */
  others: { vm_ids: string[]; zone_ids: string[]; application_ids: string[] }
}

const FIELDS = { vms: 'vm_ids', zones: 'zone_ids', applications: 'application_ids' } as const
const NONE = { vm_ids: [], zone_ids: [], application_ids: [] }

/** Return the draft of an annotation, or of a new deploy on a mesh. */
export function draftOf(annotation: Annotation | undefined, clock: Clock, meshId = ''): Draft {
  const scope = annotation?.scope
  const kind = scope ? (['vms', 'zones', 'applications'] as const).find((one) => scope[FIELDS[one]].length > 0) : 'all'
  const ids = scope && kind && kind !== 'all' ? scope[FIELDS[kind]] : []
  return {
    kind: annotation?.kind ?? 'deploy',
    text: annotation?.text ?? '',
    starts: fieldOf(annotation?.starts_at, clock),
    ends: fieldOf(annotation?.ends_at, clock),
    meshId: annotation?.mesh_id ?? meshId,
    // Everything that it was about is deleted: choose again.
    scope: kind ?? 'vms',
    ids,
    source: annotation?.source ?? '',
    url: annotation?.url ?? '',
    others:
      scope && kind && kind !== 'all'
        ? { vm_ids: scope.vm_ids, zone_ids: scope.zone_ids, application_ids: scope.application_ids, [FIELDS[kind]]: [] }
        : NONE,
  }
}

/** Return the request that stores a draft; unchanged times of `before` keep their fractions of a second. */
export function inputOf(draft: Draft, clock: Clock, before?: Annotation): AnnotationInput {
  const { scope } = draft
  const starts = momentOf(draft.starts, clock, before?.starts_at)
  return {
    kind: draft.kind,
    text: draft.text.trim(),
    ...(starts ? { starts_at: starts } : {}),
    ends_at: momentOf(draft.ends, clock, before?.ends_at) ?? null,
    mesh_id: draft.meshId || null,
    scope: scope === 'all' ? null : { ...draft.others, [FIELDS[scope]]: draft.ids },
    ...(draft.source.trim() ? { source: draft.source.trim() } : {}),
    url: draft.url.trim() || null,
  }
}

/** Return whether a draft ends by its start. Instants count: in the hour that a clock change repeats, texts deceive. */
export function endsTooEarly(draft: Draft, clock: Clock, before?: Annotation): boolean {
  const { starts_at: starts, ends_at: ends } = inputOf(draft, clock, before)
  return !!starts && !!ends && Date.parse(ends) <= Date.parse(starts)
}
