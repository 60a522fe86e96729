/** VMs and paths that the culprit of an incident covers. */

interface Place {
  id: string
}

/** A culprit: `at` and `other` are VMs or zones, by the kind of suspect. */
export interface Culprit {
  suspect: string
  at: Place | null
  other: Place | null
}

/** A VM by its id and that of its zone. */
export interface VmPlace {
  id: string
  zoneId: string
}

/** Return true if an incident of this culprit is one of the path from `source` to `target`. */
export function coversPath({ suspect, at, other }: Culprit, source: VmPlace, target: VmPlace): boolean {
  switch (suspect) {
    case 'egress':
      return at?.id === source.id
    case 'ingress':
      return at?.id === target.id
    case 'vm':
    case 'clock':
    case 'agent':
    case 'host':
      return at?.id === source.id || at?.id === target.id
    case 'path':
      return at?.id === source.id && other?.id === target.id
    case 'pair':
      return (at?.id === source.id && other?.id === target.id) || (at?.id === target.id && other?.id === source.id)
    case 'zone':
      return at?.id === source.zoneId || at?.id === target.zoneId
    case 'zone_pair':
      return at?.id === source.zoneId && (other ?? at)?.id === target.zoneId
    case 'mesh':
      return true
    default:
      return false
  }
}

/** Return true if an incident of this culprit is about the VM, its zone or its whole mesh. */
export function coversVm({ suspect, at, other }: Culprit, vm: VmPlace): boolean {
  if (suspect === 'mesh') return true
  const own = suspect === 'zone' || suspect === 'zone_pair' ? vm.zoneId : vm.id
  return at?.id === own || other?.id === own
}
