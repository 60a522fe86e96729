/** Annotations about the rows and columns of the heatmap. */

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { annotationsWithinQuery } from '~/api/annotations'
import { matrixRange, type When } from '~/api/measurements'
import type { Roster } from '~/api/types'
import type { Cell } from '~/charts/heatmap/grid'
import type { Marked } from '~/charts/heatmap/picture'
import { annotationLabel, annotationsById } from '~/lib/annotations'
import { rangeOf } from '~/lib/spans'
import type { Entry, Part } from './axes'

/** Return what is marked and the annotations of a cell; live, those of the last 15 minutes. */
export function useAnnotated(
  meshId: string,
  when: When | undefined,
  roster: Roster | undefined,
  part: Part | undefined,
): { marked: Marked | undefined; labelsOf: (cell: Cell) => string[] } {
  const range = when ? matrixRange(when) : rangeOf({}, '15m')
  const { data } = useQuery(annotationsWithinQuery(meshId, range))
  return useMemo(() => {
    const byId = roster && data ? annotationsById(data, roster) : new Map<string, NonNullable<typeof data>>()
    const marksOf = (entries: Entry[]) => Uint8Array.from(entries, ({ id }) => (byId.has(id) ? 1 : 0))
    const marked = part && byId.size > 0 ? { rows: marksOf(part.rows), columns: marksOf(part.columns) } : undefined
    const labelsOf = ({ row, column }: Cell) => {
      const ids = [part?.rows[row]?.id ?? '', part?.columns[column]?.id ?? '']
      return [...new Set(ids.flatMap((id) => byId.get(id) ?? []))].map(annotationLabel)
    }
    return { marked, labelsOf }
  }, [data, roster, part])
}
