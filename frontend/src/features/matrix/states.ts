/** The four ways of having no fresh value: never planned, not yet, no longer, not arrived. */

import { LOOK, type Look } from '~/charts/heatmap/grid'
import type { Hatch } from '~/charts/heatmap/hatch'

interface StateFacts {
  name: string
  about: string
}

// A state's number on the wire is its look: 0 measured 1 not planned 2 no data 3 stale 4 lost.
export const STATE_FACTS: Record<Hatch, StateFacts> = {
  [LOOK.dotted]: { name: 'Not planned', about: 'Nobody asked for this path to be measured.' },
  [LOOK.lined]: { name: 'No data yet', about: 'Planned; the first window has not arrived.' },
  [LOOK.veiled]: { name: 'Stale', about: 'The newest value is old: its agent has stopped reporting.' },
  [LOOK.crossed]: { name: 'Lost', about: 'Packets were sent in the newest window and none arrived.' },
}

export function stateName(look: Look): string {
  return look === LOOK.plain ? 'Measured' : STATE_FACTS[look].name
}

/** A cell as a sentence: "a-1 to b-2, p50 84.2 µs", "a-1 to a-1, not planned". */
export function sentence(source: string, target: string, look: Look, value: string | null, measured: string): string {
  const path = `${source} to ${target}`
  if (look === LOOK.plain && value !== null) return `${path}, ${measured} ${value}`
  if (look === LOOK.veiled && value !== null) return `${path}, ${measured} ${value}, stale`
  return `${path}, ${look === LOOK.plain ? 'no value' : stateName(look).toLowerCase()}`
}
