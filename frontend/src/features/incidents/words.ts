import type { IncidentState, IncidentSummary } from '~/api/incidents'
import type { Tone } from '~/ui/State'

export const STATES: Record<IncidentState, string> = {
  open: 'Open',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
}

export const SEVERITIES: Record<IncidentSummary['severity'], { word: string; tone: Tone }> = {
  critical: { word: 'Critical', tone: 'bad' },
  warning: { word: 'Warning', tone: 'warn' },
  info: { word: 'Info', tone: 'info' },
}
