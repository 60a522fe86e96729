/** What an agent says of its machine, as rows to read. The description is free: what is not understood is left out. */

export type Fact = readonly [name: string, value: string]

export interface Cloud {
  provider: string
  region: string
  zone: string
  physicalZone: string | null
}

type Words = Record<string, unknown>

const words = (value: unknown): Words => (typeof value === 'object' && value !== null ? (value as Words) : {})

function text(value: unknown): string | null {
  if (Array.isArray(value)) return value.filter((one) => typeof one === 'string').join(', ') || null
  return typeof value === 'string' || typeof value === 'number' ? String(value) || null : null
}

function facts(from: Words, names: readonly (readonly [key: string, name: string])[]): Fact[] {
  return names.flatMap(([key, name]) => {
    const value = text(from[key])
    return value === null ? [] : [[name, value] as const]
  })
}

/** System, kernel, clocks. */
export function machineFacts(description: Words): Fact[] {
  return facts(description, [
    ['host_name', 'Host name'],
    ['operating_system', 'System'],
    ['kernel', 'Kernel'],
    ['architecture', 'Architecture'],
    ['cpus', 'Processors'],
    ['clock_source', 'Clock source'],
    ['clock_sources', 'Clock sources there are'],
    ['ptp_clocks', 'Hardware clocks'],
    ['listen_address', 'Listens on'],
  ])
}

/** What the provider's metadata service said. */
export function cloudFacts(description: Words): Fact[] {
  return facts(words(description.cloud), [
    ['provider', 'Provider'],
    ['region', 'Region'],
    ['zone', 'Zone'],
    ['physical_zone_id', 'Physical zone'],
    ['instance_type', 'Instance type'],
    ['instance_id', 'Instance'],
    ['placement', 'Placement'],
  ])
}

/** The zone the cloud names, if it does. */
export function cloudOf(description: Words): Cloud | null {
  const cloud = words(description.cloud)
  const [provider, region, zone] = [text(cloud.provider), text(cloud.region), text(cloud.zone)]
  if (!provider || !region || !zone) return null
  return { provider, region, zone, physicalZone: text(cloud.physical_zone_id) }
}

interface Zone {
  provider: string
  region: string
  name: string
  physical_id: string | null
}

/** Whether a VM stands in another zone than its cloud says: by the provider's own name of the place where both have it. */
export function elsewhere(zone: Zone, cloud: Cloud): boolean {
  if (zone.provider !== cloud.provider || zone.region !== cloud.region) return true
  if (zone.physical_id && cloud.physicalZone) return zone.physical_id !== cloud.physicalZone
  return zone.name !== cloud.zone
}

/** How the agent itself fares, by its last report. */
export function healthFacts(health: Words | null): Fact[] {
  return facts(words(health), [
    ['timestamp_source', 'Stamps are taken by'],
    ['packets_sent', 'Packets sent'],
    ['packets_received', 'Packets received'],
    ['packets_rejected', 'Packets rejected'],
    ['receive_queue_overflows', 'Packets dropped by the machine'],
    ['transmit_stamps_missing', 'Stamps missing'],
    ['spool_reports', 'Reports waiting'],
    ['reports_dropped', 'Reports given up'],
    ['reports_refused', 'Reports refused'],
  ])
}

const KINDS: Record<string, string> = {
  rate_shed: 'Rate shed',
  clock_step: 'Clock step',
  route_change: 'Route change',
  reports_dropped: 'Reports dropped',
  error: 'Error',
}

/** What kind of event it is, in words. */
export const kindOf = (kind: string): string => KINDS[kind] ?? kind.replaceAll('_', ' ')

/** The sentence of an event. */
export const sentenceOf = (detail: Words): string => text(detail.message) ?? ''
