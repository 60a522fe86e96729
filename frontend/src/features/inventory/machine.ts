/** Rows that describe the machine of an agent. The description has no fixed schema: unknown fields are ignored. */

import { strings } from './strings'

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
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string').join(', ') || null
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
    ['host_name', strings.hostName],
    ['operating_system', strings.system],
    ['kernel', strings.kernel],
    ['architecture', strings.architecture],
    ['cpus', strings.processors],
    ['clock_source', strings.clockSource],
    ['clock_sources', strings.clockSources],
    ['ptp_clocks', strings.hardwareClocks],
    ['listen_address', strings.listenAddress],
  ])
}

/** Rows from the provider's metadata service. */
export function cloudFacts(description: Words): Fact[] {
  return facts(words(description.cloud), [
    ['provider', strings.provider],
    ['region', strings.region],
    ['zone', strings.zone],
    ['physical_zone_id', strings.physicalZone],
    ['instance_type', strings.instanceType],
    ['instance_id', strings.instance],
    ['placement', strings.placement],
  ])
}

/** Return the zone reported by the cloud, if any. */
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

/** Return true when the cloud reports another zone than the VM's; compare physical ids where both have one. */
export function elsewhere(zone: Zone, cloud: Cloud): boolean {
  if (zone.provider !== cloud.provider || zone.region !== cloud.region) return true
  if (zone.physical_id && cloud.physicalZone) return zone.physical_id !== cloud.physicalZone
  return zone.name !== cloud.zone
}

/** Largest difference between the time of windows and the backend's clock that an agent should report, ms. */
const WINDOW_TIME_LIMIT_MS = 50

/** Return the bound on the error of the time of windows, ms; null if the agent does not know or report it. */
function windowTimeErrorMs(health: Words | null): number | null {
  const ns = words(health).window_time_error_ns
  return typeof ns === 'number' && ns > 0 ? ns / 1e6 : null
}

/** Return the bound on the error of the time of windows, ms, if it is too large to compare agents in time. */
export function excessiveWindowTimeErrorMs(health: Words | null): number | null {
  const ms = windowTimeErrorMs(health)
  return ms !== null && ms > WINDOW_TIME_LIMIT_MS ? Math.ceil(ms) : null
}

/** Rows of the agent's counters, from its last report. */
export function healthFacts(health: Words | null): Fact[] {
  const ms = windowTimeErrorMs(health)
  const windowTime: Fact[] = ms === null ? [] : [[strings.windowTimeError, strings.atMostMs(Math.ceil(ms))]]
  return windowTime.concat(counterFacts(health))
}

const TIMESTAMP_SOURCES: Record<string, string> = {
  hardware: strings.timestampsHardware,
  kernel: strings.timestampsKernel,
  user: strings.timestampsUser,
}

function counterFacts(health: Words | null): Fact[] {
  const source = text(words(health).timestamp_source)
  const known = source === null ? {} : { timestamp_source: TIMESTAMP_SOURCES[source] ?? source }
  return facts({ ...words(health), ...known }, [
    ['timestamp_source', strings.timestampSource],
    ['packets_sent', strings.packetsSent],
    ['packets_received', strings.packetsReceived],
    ['packets_rejected', strings.packetsRejected],
    ['receive_queue_overflows', strings.packetsDropped],
    ['transmit_stamps_missing', strings.timestampsMissing],
    ['spool_reports', strings.reportsWaiting],
    ['reports_dropped', strings.reportsDiscarded],
    ['reports_refused', strings.reportsRefused],
  ])
}

const KINDS: Record<string, string> = {
  rate_shed: strings.rateReduced,
  plan_limited: strings.planLimited,
  clock_step: strings.clockStep,
  route_change: strings.routeChange,
  timestamps: strings.timestampsChanged,
  identity_copied: strings.identityCopied,
  address_taken: strings.addressTaken,
  window_time: strings.windowTime,
  no_service: strings.noService,
  reports_dropped: strings.reportsDropped,
  error: strings.error,
}

/** The name of an event's kind. */
export const kindOf = (kind: string): string => KINDS[kind] ?? kind.replaceAll('_', ' ')

/** The sentence of an event. */
export const sentenceOf = (detail: Words): string => text(detail.message) ?? ''
