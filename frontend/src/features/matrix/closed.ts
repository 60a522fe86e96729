/** The zones that are shown as one row and column each, as an address names them. */

/** Every zone but those that follow. */
const ALL = 'all'

/** Return the test of a closed zone. "all,a" closes every zone but a; "a,b" closes those two. */
export function closedZones(text: string | undefined): (zoneId: string) => boolean {
  const [first, ...rest] = text?.split(',') ?? []
  if (first === undefined) return () => false
  const named = new Set(first === ALL ? rest : [first, ...rest])
  return (zoneId) => named.has(zoneId) !== (first === ALL)
}

/** Write which of the zones are closed, as shortly as it can be: nothing when none is. */
function written(zones: readonly string[], isClosed: (zoneId: string) => boolean): string {
  const closed = zones.filter(isClosed)
  const open = zones.filter((id) => !isClosed(id))
  if (closed.length === 0) return ''
  return closed.length > open.length ? [ALL, ...open].join(',') : closed.join(',')
}

/** Return the address after some of the zones open, or close when all of them are open. */
export function toggled(text: string | undefined, zones: readonly string[], some: readonly string[]): string {
  const isClosed = closedZones(text)
  const close = !some.some(isClosed)
  return written(zones, (id) => (some.includes(id) ? close : isClosed(id)))
}
