import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { zonesQuery } from '~/api/inventory'
import { matrixQuery, type Shown } from '~/api/measurements'
import type { Roster } from '~/api/types'
import type { Space } from '~/charts/heatmap/transition'
import type { Point, View } from '~/charts/heatmap/view'
import { type Part, wholePart } from './axes'
import type { ChangeSearch, MatrixSearch } from './search'
import { closesAt, opensAt, spaceOf, vmsUnder, zonesOver } from './space'
import { type Position, written } from './usePosition'

interface Options {
  meshId: string
  shown: Shown
  search: MatrixSearch
  part: Part | undefined
  roster: Roster | undefined
  position: Position
  onSearch: ChangeSearch
}

const MIDDLE: Point = { x: 0.5, y: 0.5 }

interface SemanticZoom {
  space: Space | undefined
  onZoomed: (view: View, at?: Point) => void
}

/**
 * Return the space of the shown part, and the end of a zoom: zones that are magnified enough open into their VMs, and VMs that
 * opened so become zones again. The path under the pointer stays there.
 */
export function useSemanticZoom({ meshId, shown, search, part, roster, position, onSearch }: Options): SemanticZoom {
  const { data: zones } = useQuery(zonesQuery)
  const cache = useQueryClient()
  const space = useMemo(() => part && roster && spaceOf(part, shown.by, roster, zones), [part, roster, shown.by, zones])
  /** The rows in view when zones opened. */
  const opened = useRef<number | null>(null)
  // In another order, or with rows left out, zones are not where their VMs are.
  const isWhole = !part?.zones && (search.order ?? 'zone') === 'zone' && !(search.only && search.find)
  const zoomed = (view: View, at: Point) => {
    const change = async (by: Shown['by'], next: View) => {
      // The picture must not change its view before it changes its cells.
      await cache.ensureQueryData(
        matrixQuery(meshId, {
          ...shown,
          by,
          slowest: by === 'vm' && shown.slowest,
          estimates: by === 'vm' && shown.estimates === true,
        }),
      )
      await onSearch({ by, view: written(next), cell: '', select: '', closed: '' }, true)
    }
    if (!isWhole || !roster) return position.onView(view)
    const ofZones = spaceOf(wholePart(roster, 'zone', zones), 'zone', roster, zones).rows
    if (shown.by === 'zone' && opensAt(view, ofZones.length)) {
      const next = vmsUnder(view, ofZones, at)
      opened.current = next.count
      void change('vm', next)
    } else if (shown.by === 'vm' && opened.current !== null && closesAt(view, opened.current, roster.vms.length)) {
      opened.current = null
      void change('zone', zonesOver(view, ofZones, at))
    } else position.onView(view)
  }
  const latest = useRef(zoomed)
  useEffect(() => {
    latest.current = zoomed
  })
  // One function: another would end the gesture that is under way.
  const onZoomed = useCallback((view: View, at: Point = MIDDLE) => latest.current(view, at), [])
  return { space, onZoomed }
}
