/** Texts of verdicts and their reasons. */

import type { Incident } from '~/api/incidents'
import { formatBitRate, formatDecimalBytes, formatWait } from '~/lib/traffic'
import { formatCount, formatDelay, formatRatio, formatSignedDelay } from '~/lib/units'
import { strings } from '../strings'

type Verdict = Incident['verdict']
type Reason = Verdict['reasons'][number]

const VERDICTS: Record<Verdict['kind'], string> = {
  network: strings.verdictNetwork,
  clock: strings.verdictClock,
  agent: strings.verdictAgent,
  host: strings.verdictHost,
  application: strings.verdictApplication,
  shaping: strings.verdictShaping,
  fairness: strings.verdictFairness,
  undecided: strings.verdictUndecided,
}

/** Return the verdict on an incident as a sentence. */
export function verdictSentence(kind: Verdict['kind'], suspect: string): string {
  return kind === 'agent' && suspect !== 'agent' ? strings.verdictAgents : VERDICTS[kind]
}

/** Return a reason as a sentence. */
export function reasonSentence({ code, paths, compared, change_ns, loss, applications }: Reason, isClock: boolean) {
  const change = formatSignedDelay(change_ns)
  const names = applications.join(', ')
  const count = strings.pathCount(paths ?? 0, formatCount(paths))
  switch (code) {
    case 'one_way_up':
      return strings.oneWayUp(formatCount(paths), formatCount(compared), change)
    case 'reverse_up':
      return strings.reverseUp(change)
    case 'reverse_unchanged':
      return strings.reverseUnchanged(change)
    case 'reverse_down':
      return strings.reverseDown(formatDelay(Math.abs(change_ns ?? 0)))
    case 'round_trip_changed':
      return strings.roundTripChanged(change)
    case 'round_trip_unchanged':
      return isClock ? strings.roundTripProvesClock(change) : strings.roundTripUnchanged(change)
    case 'loss':
      return strings.packetsLost(formatRatio(loss), count)
    case 'spikes':
      return strings.spikesOn(count)
    case 'clock_error':
      return strings.clockErrorUp(count)
    case 'other_incident':
      return strings.verdictOtherIncident
    case 'silent':
      return strings.agentSilent
    case 'host_waits':
      return strings.hostWaits
    case 'bucket_empties':
      return strings.bucketEmpties
    case 'shares_uneven':
      return strings.sharesUneven
    case 'delays_usual':
      return strings.delaysUsual
    case 'no_usual':
      return strings.noUsualYet
    case 'objective_missed':
      return strings.objectiveMissed
    case 'applications_lose':
      return strings.applicationsLose(names)
    case 'applications_unaffected':
      return strings.applicationsUnaffected(names)
    case 'applications_unknown':
      return strings.applicationsUnknown(names)
    case 'no_applications':
      return strings.noApplicationsAffected
  }
}

/** Return what shows that a VM waited on its own machine, a sentence each. */
export function hostSentences(host: Incident['evidence']['hosts'][number]): string[] {
  const shares = [
    host.stolen ? strings.hostStolen(formatRatio(host.stolen)) : '',
    host.throttled ? strings.hostThrottled(formatRatio(host.throttled)) : '',
  ].filter(Boolean)
  const waited = strings.hostWaited(host.name, formatRatio(host.stalled), formatDelay(host.longest_ns), shares)
  const spikes = strings.spikesWaiting(formatCount(host.spikes_waiting), formatCount(host.spikes), host.name)
  return host.spikes_waiting > 0 ? [spikes, waited] : [waited]
}

/** Return the state of the token bucket that an incident is about, when it opened. */
export function bucketSentence(bucket: NonNullable<Incident['evidence']['token_bucket']>): string {
  const { use_mbit: use, rate_mbit: rate, tokens_kb: left, burst_kb: depth, empty_in_s: emptyIn } = bucket
  return strings.bucketLeft(
    formatBitRate(use * 1e6),
    formatBitRate(rate * 1e6),
    formatDecimalBytes(left * 1e3),
    formatDecimalBytes(depth * 1e3),
    emptyIn ? strings.bucketEmptyIn(formatWait(emptyIn)) : strings.bucketEmpty,
  )
}
