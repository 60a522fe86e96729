/** Texts of silences, and parsing of typed values. */

import type { Silence } from '~/api/silences'
import { strings } from '../strings'

export const WEEKDAYS = [
  strings.monday,
  strings.tuesday,
  strings.wednesday,
  strings.thursday,
  strings.friday,
  strings.saturday,
  strings.sunday,
]

const two = (value: number) => String(value).padStart(2, '0')

/** "Mondays 23:05 UTC for 90 min"; "Always" where it does not repeat. */
export function weeklyWords({ weekly }: Pick<Silence, 'weekly'>): string {
  if (!weekly) return strings.always
  const at = `${two(Math.floor(weekly.minute / 60))}:${two(weekly.minute % 60)}`
  return strings.weekly(WEEKDAYS[weekly.weekday] ?? '', at, weekly.time_zone, weekly.lasts_min)
}

/** "23:05" as the minute of the day. */
export function minuteOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return hours * 60 + minutes
}
