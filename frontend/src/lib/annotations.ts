/** Annotations as words, as marks of time axes, and the VMs and zones that they are about. */

import { strings } from './strings'

export const ANNOTATION_KINDS = ['deploy', 'maintenance', 'note'] as const
export type AnnotationKind = (typeof ANNOTATION_KINDS)[number]

export const KIND_NAMES: Record<AnnotationKind, string> = {
  deploy: strings.deploy,
  maintenance: strings.maintenance,
  note: strings.note,
}

interface Times {
  starts_at: string
  ends_at: string | null
}

interface Described extends Times {
  id: string
  kind: AnnotationKind
  text: string
  url: string | null
}

/** A mark of a time axis: an event, or a span with an end. Times are seconds since 1970. */
export interface TimeMark {
  id: string
  label: string
  from: number
  to: number | null
  url?: string | undefined
}

export const annotationLabel = ({ kind, text }: Pick<Described, 'kind' | 'text'>) => `${KIND_NAMES[kind]}: ${text}`

export const annotationMark = (annotation: Described): TimeMark => ({
  id: annotation.id,
  label: annotationLabel(annotation),
  from: Date.parse(annotation.starts_at) / 1_000,
  to: annotation.ends_at === null ? null : Date.parse(annotation.ends_at) / 1_000,
  url: annotation.url ?? undefined,
})

/** The VMs and zones that an annotation is about; null for all. */
interface Scoped {
  scope: { vm_ids: readonly string[]; zone_ids: readonly string[]; task_vm_ids: readonly string[] } | null
}

interface Axes {
  vms: readonly { id: string; zone_id: string }[]
}

/**
 * Return the annotations of each VM and zone by its id. Annotations about all VMs are left out: a mark on every cell
 * points at nothing. A VM has those of its zone, and a zone those of its VMs.
 */
export function annotationsById<T extends Scoped>(annotations: readonly T[], { vms }: Axes): Map<string, T[]> {
  const found = new Map<string, T[]>()
  for (const annotation of annotations) {
    const { scope } = annotation
    if (!scope) continue
    const zones = new Set(scope.zone_ids)
    const named = new Set([...scope.vm_ids, ...scope.task_vm_ids])
    const ids = new Set<string>(zones)
    for (const { id, zone_id } of vms) {
      if (named.has(id)) ids.add(zone_id)
      if (named.has(id) || zones.has(zone_id)) ids.add(id)
    }
    for (const id of ids) found.set(id, [...(found.get(id) ?? []), annotation])
  }
  return found
}
