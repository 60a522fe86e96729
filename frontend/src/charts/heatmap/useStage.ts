import { type RefObject, useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { aroundPrinting, PAPER_WIDTH } from '~/lib/printing'
import type { Extent } from './axis'

export interface Stage extends Extent {
  density: number
}

/** The picture and its labels are never lower than this, in CSS pixels. */
const LOWEST = 340

/**
 * Return the width of an element and the height of the window below its top, less `below` CSS pixels: the room for a
 * picture and its labels.
 */
export function useStage(frame: RefObject<HTMLElement | null>, below: number): Stage {
  const [stage, setStage] = useState<Stage>({ width: 0, height: 0, density: 1 })
  useLayoutEffect(() => {
    const element = frame.current
    if (!element) return
    const measure = () => {
      // On a wall screen the page is magnified: the window is in pixels of the screen, the element in its own.
      const zoom = element.currentCSSZoom || 1
      // The distance from the top of the page does not change while it scrolls.
      const top = element.getBoundingClientRect().top + window.scrollY
      const height = Math.max(LOWEST, Math.floor((window.innerHeight - top) / zoom - below))
      const next = { width: element.clientWidth, height, density: (window.devicePixelRatio || 1) * zoom }
      setStage((old) =>
        old.width === next.width && old.height === next.height && old.density === next.density ? old : next,
      )
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    // What stands above the element may become higher or lower.
    observer.observe(document.body)
    window.addEventListener('resize', measure)
    // The picture must be drawn before the browser prints it.
    const fitPaper = () =>
      flushSync(() => setStage((old) => ({ ...old, width: Math.min(old.width, PAPER_WIDTH), height: PAPER_WIDTH })))
    const stop = aroundPrinting(fitPaper, measure)
    return () => {
      stop()
      observer.disconnect()
      window.removeEventListener('resize', measure)
    }
  }, [frame, below])
  return stage
}
