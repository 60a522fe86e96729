import type { Tone } from './State'
import { strings } from './strings'

export type Severity = 'critical' | 'warning' | 'info'

/** Name and tone of each severity, most severe first. */
export const SEVERITIES: Record<Severity, { word: string; tone: Tone }> = {
  critical: { word: strings.critical, tone: 'bad' },
  warning: { word: strings.warning, tone: 'warn' },
  info: { word: strings.info, tone: 'info' },
}

const ORDER = Object.keys(SEVERITIES) as Severity[]

/** Return the rank of a severity: larger is more severe. */
export const rankOf = (severity: Severity) => ORDER.length - ORDER.indexOf(severity)
