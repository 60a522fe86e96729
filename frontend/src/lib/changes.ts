/** Changes of a what-if scenario: in the URL, as text, and their effect on the placement. */

import { strings } from './strings'

export type Change =
  | { kind: 'task'; application: string; task: string; vm: string | null }
  | { kind: 'vm'; vm: string; zone: string }
  | { kind: 'drop_zone'; zone: string }
  | { kind: 'latency'; zones: string[]; added_us: number }
  | { kind: 'curve'; application: string; curve: string; curve_number?: number | null }

const FIELDS: Record<Change['kind'], Record<string, (value: unknown) => boolean>> = {
  task: { application: isText, task: isText, vm: (value) => value === null || isText(value) },
  vm: { vm: isText, zone: isText },
  drop_zone: { zone: isText },
  latency: {
    zones: (value) => Array.isArray(value) && value.length === 2 && value.every(isText),
    added_us: (value) => typeof value === 'number' && Number.isFinite(value),
  },
  curve: { application: isText, curve: isText },
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Return the changes of an address; ignore anything else. */
export function parseChanges(raw: unknown): Change[] | undefined {
  if (!Array.isArray(raw)) return undefined
  const changes = raw.filter((item): item is Change => {
    const record = (item ?? {}) as Record<string, unknown>
    const fields = FIELDS[record.kind as Change['kind']]
    return fields !== undefined && Object.entries(fields).every(([name, fits]) => fits(record[name]))
  })
  return changes.length > 0 ? changes : undefined
}

/** Return a change as a sentence. */
export function changeWords(change: Change): string {
  switch (change.kind) {
    case 'task':
      return change.vm === null
        ? strings.taskUnplaced(change.application, change.task)
        : strings.taskOnVm(change.application, change.task, change.vm)
    case 'vm':
      return strings.vmRecreated(change.vm, change.zone)
    case 'drop_zone':
      return strings.zoneRemoved(change.zone)
    case 'latency':
      return strings.latencyAdded(
        change.zones[0] ?? '',
        change.zones[1] ?? '',
        change.added_us < 0 ? '−' : '+',
        Math.abs(change.added_us),
      )
    case 'curve':
      return strings.curveChanged(change.application, change.curve)
  }
}

/** Return the VM of each task after changes, by "application task"; null for an unplaced task. */
export function placesAfter(
  tasks: { application: string; task: string; vm: string | null }[],
  changes: Change[],
  zoneOf: Map<string, string>,
): Map<string, string | null> {
  const at = new Map(tasks.map(({ application, task, vm }) => [`${application} ${task}`, vm]))
  const zones = new Map(zoneOf)
  for (const change of changes) {
    if (change.kind === 'task') at.set(`${change.application} ${change.task}`, change.vm)
    if (change.kind === 'vm') zones.set(change.vm, change.zone)
    if (change.kind === 'drop_zone') {
      for (const [key, vm] of at) if (vm !== null && zones.get(vm) === change.zone) at.set(key, null)
    }
  }
  return at
}
