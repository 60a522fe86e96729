import type { IncidentState, IncidentSummary } from '~/api/incidents'
import type { Tone } from '~/ui/State'

export const STATES: Record<IncidentState, string> = {
  open: 'Open',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
}

/** State of an incident, and what is special about it. */
export function stateWords({ state, muted, found_late_at }: IncidentSummary): string {
  return [STATES[state], muted && 'muted', found_late_at && 'found late'].filter(Boolean).join(', ')
}

export const SEVERITIES: Record<IncidentSummary['severity'], { word: string; tone: Tone }> = {
  critical: { word: 'Critical', tone: 'bad' },
  warning: { word: 'Warning', tone: 'warn' },
  info: { word: 'Info', tone: 'info' },
}
