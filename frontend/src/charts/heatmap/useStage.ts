import { type RefObject, useLayoutEffect, useState } from 'react'

export interface Stage {
  /** Width and height of the picture, in CSS pixels. */
  side: number
  density: number
}

const LARGEST_CELL = 104

/** The largest square of `size`×`size` cells that fits the element's width and the window's height, whole pixels per cell where cells are few. */
export function useStage(
  frame: RefObject<HTMLElement | null>,
  size: number,
  gutter: { left: number; top: number },
): Stage {
  const [stage, setStage] = useState<Stage>({ side: 0, density: 1 })
  useLayoutEffect(() => {
    const element = frame.current
    if (!element) return
    const measure = () => {
      const width = element.clientWidth - gutter.left
      const height = Math.max(340, window.innerHeight - 312) - gutter.top
      const room = Math.max(160, Math.min(width, height))
      const fitted = size <= 100 ? Math.min(Math.floor(room / size), LARGEST_CELL) * size : Math.floor(room)
      setStage((old) => {
        const next = { side: Math.max(0, fitted), density: window.devicePixelRatio || 1 }
        return old.side === next.side && old.density === next.density ? old : next
      })
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    window.addEventListener('resize', measure)
    return () => {
      observer.disconnect()
      window.removeEventListener('resize', measure)
    }
  }, [frame, size, gutter.left, gutter.top])
  return stage
}
