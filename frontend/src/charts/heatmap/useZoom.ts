import { select } from 'd3-selection'
import { type D3ZoomEvent, type ZoomTransform, zoom, zoomIdentity } from 'd3-zoom'
import { type RefObject, useEffect, useMemo, useState } from 'react'
import { fromTransform, longest, type Shape, toTransform, type View } from './view'

/**
 * Zooming and panning of the stage: pinch, wheel with Ctrl or ⌘ (the plain wheel scrolls the page), drag.
 * Return the present view; `onView` is called when a gesture ends.
 */
export function useZoom(
  stage: RefObject<HTMLElement | null>,
  shape: Shape,
  side: number,
  view: View,
  onView: (view: View) => void,
): View {
  const { rows, columns } = shape
  const size = longest(shape)
  const [current, setCurrent] = useState(view)
  const behaviour = useMemo(() => zoom<HTMLElement, unknown>(), [])

  useEffect(() => {
    if (!stage.current || side === 0) return
    const selection = select(stage.current)
    const viewOf = (transform: ZoomTransform) => fromTransform(transform, { rows, columns }, side)
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
        setCurrent(viewOf(transform))
      })
      .on('end', ({ transform, sourceEvent }: D3ZoomEvent<HTMLElement, unknown>) => {
        if (sourceEvent) onView(viewOf(transform))
      })
    selection.call(behaviour).on('dblclick.zoom', null)
    return () => {
      selection.on('.zoom', null)
    }
  }, [stage, behaviour, rows, columns, size, side, onView])

  const { row, column, count } = view
  useEffect(() => {
    if (!stage.current || side === 0) return
    const { k, x, y } = toTransform({ row, column, count }, size, side)
    select(stage.current).call(behaviour.transform, zoomIdentity.translate(x, y).scale(k))
  }, [stage, behaviour, size, side, row, column, count])

  return current
}
