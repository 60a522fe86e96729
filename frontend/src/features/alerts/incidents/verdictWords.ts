/** Texts of verdicts and their reasons. */

import type { Incident } from '~/api/incidents'
import { formatCount, formatDelay, formatRatio, formatSignedDelay } from '~/lib/units'
import { strings } from '../strings'

type Verdict = Incident['verdict']
type Reason = Verdict['reasons'][number]

export const VERDICTS: Record<Verdict['kind'], string> = {
  network: strings.verdictNetwork,
  clock: strings.verdictClock,
  agent: strings.verdictAgent,
  application: strings.verdictApplication,
  undecided: strings.verdictUndecided,
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
    case 'silent':
      return strings.agentSilent
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
