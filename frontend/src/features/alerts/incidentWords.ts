import type { IncidentState, IncidentSummary } from '~/api/incidents'
import type { Tone } from '~/ui/State'
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

export const SEVERITIES: Record<IncidentSummary['severity'], { word: string; tone: Tone }> = {
  critical: { word: strings.critical, tone: 'bad' },
  warning: { word: strings.warning, tone: 'warn' },
  info: { word: strings.info, tone: 'info' },
}
