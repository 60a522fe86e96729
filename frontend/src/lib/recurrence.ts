/** How an incident that returns is told: how often it was seen, over which time, how often lately. */

import { formatAge } from './time'

export interface Recurrence {
  times: number
  since: string
  last_hour: number
  flaps: boolean
}

/** Return "Seen 23 times in 2 d, 3 times in its last hour. "; empty for an incident that was seen once. */
export function recurrenceSentence(recurrence: Recurrence | null | undefined, seenAt: string): string {
  if (!recurrence) return ''
  const { times, since, last_hour, flaps } = recurrence
  const lately = last_hour > 1 ? `, ${last_hour} times in its last hour` : ''
  const flapping = flaps ? ' It is flapping: it comes and goes.' : ''
  return `Seen ${times} times in ${formatAge(Date.parse(seenAt) - Date.parse(since))}${lately}.${flapping} `
}
