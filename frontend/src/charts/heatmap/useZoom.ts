import { pointer, select } from 'd3-selection'
import { type D3ZoomEvent, type ZoomTransform, zoom, zoomIdentity } from 'd3-zoom'
import { type RefObject, useEffect, useMemo, useState } from 'react'
import { fromTransform, isSameView, longest, type Point, type Shape, toTransform, type View } from './view'

interface Picture {
  shape: Shape
  /** In CSS pixels. */
  side: number
  /** The fewest rows and columns in view. */
  closest: number
}

/** Return where the pointer of a gesture is; the middle when it is not on the picture. */
function pointOf(event: MouseEvent | TouchEvent, stage: HTMLElement, side: number): Point {
  const touch = 'changedTouches' in event ? event.changedTouches[0] : event
  const [x, y] = touch ? pointer(touch, stage) : [side / 2, side / 2]
  const share = (at: number) => (at >= 0 && at <= side ? at / side : 0.5)
  return { x: share(x), y: share(y) }
}

/**
 * Zooming and panning of the stage: pinch, wheel with Ctrl or ⌘ (the plain wheel scrolls the page), drag.
 * Return the present view; `onView` is called when a gesture ends.
 */
export function useZoom(
  stage: RefObject<HTMLElement | null>,
  { shape, side, closest }: Picture,
  view: View,
  onView: (view: View, at: Point) => void,
): View {
  const { rows, columns } = shape
  const size = longest(shape)
  const [current, setCurrent] = useState({ view, shape })
  const behaviour = useMemo(() => zoom<HTMLElement, unknown>(), [])

  useEffect(() => {
    const element = stage.current
    if (!element || side === 0) return
    const selection = select<HTMLElement, unknown>(element)
    const viewOf = (transform: ZoomTransform) => fromTransform(transform, shape, side, closest)
    behaviour
      .extent([
        [0, 0],
        [side, side],
      ])
      .translateExtent([
        [0, 0],
        [side, side],
      ])
      .scaleExtent([1, Math.max(1, size / closest)])
      .filter((event: MouseEvent) => (event.type === 'wheel' ? event.ctrlKey || event.metaKey : !event.button))
      .on('zoom', ({ transform }: D3ZoomEvent<HTMLElement, unknown>) => {
        const next = viewOf(transform)
        // At an edge a pointer moves on, and the picture stays.
        setCurrent((old) => (old.shape === shape && isSameView(old.view, next) ? old : { view: next, shape }))
      })
      .on('end', ({ transform, sourceEvent }: D3ZoomEvent<HTMLElement, unknown>) => {
        if (sourceEvent) onView(viewOf(transform), pointOf(sourceEvent, element, side))
      })
    selection.call(behaviour).on('dblclick.zoom', null)
    return () => {
      selection.on('.zoom', null)
    }
  }, [stage, behaviour, shape, size, side, closest, onView])

  const { row, column, count } = view
  useEffect(() => {
    if (!stage.current || side === 0) return
    const { k, x, y } = toTransform({ row, column, count }, size, side)
    select(stage.current).call(behaviour.transform, zoomIdentity.translate(x, y).scale(k))
  }, [stage, behaviour, size, side, row, column, count])

  // The gestures of another grid are none of this one.
  return current.shape.rows === rows && current.shape.columns === columns ? current.view : view
}
