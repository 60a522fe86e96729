import type { IncidentState, IncidentSummary } from '~/api/incidents'
import { strings } from './strings'

export const STATES: Record<IncidentState, string> = {
  open: strings.open,
  acknowledged: strings.acknowledged,
  resolved: strings.resolved,
}

/** State of an incident, with its special conditions. */
export function stateWords({ state, silenced_by, found_late_at }: IncidentSummary): string {
  return [STATES[state], silenced_by && strings.silenced, found_late_at && strings.detectedLateShort]
    .filter(Boolean)
    .join(', ')
}
