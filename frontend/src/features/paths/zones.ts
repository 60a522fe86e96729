/** The zone pair of a path. */

import type { Roster } from '~/api/types'

type Zone = Roster['zones'][number]

/** Return the zones of two VMs of a mesh; undefined unless both are members. */
export function zonePairOf({ vms, zones }: Roster, source: string, target: string): [Zone, Zone] | undefined {
  const [from, to] = [source, target].map((id) => {
    const zoneId = vms.find((vm) => vm.id === id)?.zone_id
    return zones.find((zone) => zone.id === zoneId)
  })
  return from && to && [from, to]
}
