import { select } from 'd3-selection'
import { type D3ZoomEvent, zoom, zoomIdentity } from 'd3-zoom'
import { type RefObject, useEffect, useMemo, useState } from 'react'
import { fromTransform, toTransform, type View } from './view'

/**
 * Zooming and panning of the stage: pinch, wheel with Ctrl or ⌘ (the plain wheel scrolls the page), drag.
 * Return the present view; `onView` is called when a gesture ends.
 */
export function useZoom(
  stage: RefObject<HTMLElement | null>,
  size: number,
  side: number,
  view: View,
  onView: (view: View) => void,
): View {
  const [current, setCurrent] = useState(view)
  const behaviour = useMemo(() => zoom<HTMLElement, unknown>(), [])

  useEffect(() => {
    if (!stage.current || side === 0) return
    const selection = select(stage.current)
    behaviour
      .extent([
        [0, 0],
        [side, side],
      ])
      .translateExtent([
        [0, 0],
        [side, side],
      ])
      .scaleExtent([1, Math.max(1, size / 4)])
      .filter((event: MouseEvent) => (event.type === 'wheel' ? event.ctrlKey || event.metaKey : !event.button))
      .on('zoom', ({ transform }: D3ZoomEvent<HTMLElement, unknown>) => {
        setCurrent(fromTransform(transform, size, side))
      })
      .on('end', ({ transform, sourceEvent }: D3ZoomEvent<HTMLElement, unknown>) => {
        if (sourceEvent) onView(fromTransform(transform, size, side))
      })
    selection.call(behaviour).on('dblclick.zoom', null)
    return () => {
      selection.on('.zoom', null)
    }
  }, [stage, behaviour, size, side, onView])

  const { row, column, count } = view
  useEffect(() => {
    if (!stage.current || side === 0) return
    const { k, x, y } = toTransform({ row, column, count }, size, side)
    select(stage.current).call(behaviour.transform, zoomIdentity.translate(x, y).scale(k))
  }, [stage, behaviour, size, side, row, column, count])

  return current
}
