/** The zones of a mesh as parts of its heatmap of VMs. */

interface Zone {
  id: string
  first: number
  count: number
}

/** Return the part of the heatmap of VMs with the paths between two zones; undefined for unknown zones. */
export function zoneView(zones: readonly Zone[], source: string, target: string): string | undefined {
  const [down, across] = [source, target].map((id) => zones.find((zone) => zone.id === id))
  return down && across && `${down.first},${across.first},${Math.max(down.count, across.count)}`
}
