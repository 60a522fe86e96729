/** The states without a fresh value: not planned, no data yet, stale, lost, no usual value yet, and others. */

import { LOOK, type Look } from '~/charts/heatmap/grid'
import type { Hatch } from '~/charts/heatmap/hatch'
import { strings } from './strings'

interface StateFacts {
  name: string
  about: string
}

// A state's number on the wire is its look: 0 measured 1 not planned 2 no data 3 stale 4 lost 5 no baseline
// 6 earlier 7 estimated 8 no service.
export const STATE_FACTS: Record<Hatch, StateFacts> = {
  [LOOK.dotted]: { name: strings.notPlanned, about: strings.notPlannedHint },
  [LOOK.lined]: { name: strings.noData, about: strings.noDataHint },
  [LOOK.veiled]: { name: strings.staleTitle, about: strings.staleHint },
  [LOOK.crossed]: { name: strings.lostTitle, about: strings.lostHint },
  [LOOK.flecked]: { name: strings.earlierTitle, about: strings.earlierHint },
  [LOOK.barred]: { name: strings.estimatedTitle, about: strings.estimatedHint },
  [LOOK.ringed]: { name: strings.noService, about: strings.noServiceHint },
  [LOOK.ruled]: { name: strings.noBaseline, about: strings.noBaselineHint },
}

export function stateName(look: Look): string {
  return look === LOOK.plain ? strings.measured : STATE_FACTS[look].name
}

/** Return a cell as a sentence: "a-1 to b-2, p50 84.2 µs", "a-1 to a-1, not planned". */
export function sentence(source: string, target: string, look: Look, value: string | null, measured: string): string {
  const path = strings.pathName(source, target)
  if (look === LOOK.plain && value !== null) return `${path}, ${measured} ${value}`
  if (look === LOOK.veiled && value !== null) return strings.staleCell(path, measured, value)
  if (look === LOOK.flecked && value !== null) return strings.earlierCell(path, measured, value)
  if (look === LOOK.barred && value !== null) return strings.estimatedCell(path, measured, value)
  return `${path}, ${look === LOOK.plain ? strings.noValue : stateName(look).toLowerCase()}`
}
