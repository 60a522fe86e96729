/** Silences as people read them, and as they are typed. */

import type { Matcher, Silence } from '~/api/silences'

export const LABELS: Record<Matcher['label'], string> = {
  mesh: 'Mesh',
  severity: 'Severity',
  suspect: 'Suspect',
  rule: 'Rule',
  vm: 'VM',
  zone: 'Zone',
  application: 'Application',
}

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** "mesh is prod", "zone is not eu-*". */
export const matcherWords = ({ label, value, negate }: Matcher) => `${label} is ${negate ? 'not ' : ''}${value}`

const two = (value: number) => String(value).padStart(2, '0')

/** "Mondays 23:05 UTC for 90 min"; "all the time" where it does not come again and again. */
export function weeklyWords({ weekly }: Pick<Silence, 'weekly'>): string {
  if (!weekly) return 'all the time'
  const at = `${two(Math.floor(weekly.minute / 60))}:${two(weekly.minute % 60)}`
  return `${WEEKDAYS[weekly.weekday]}s ${at} UTC for ${weekly.lasts_min} min`
}

/** "23:05" as the minute of the day. */
export function minuteOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return hours * 60 + minutes
}
