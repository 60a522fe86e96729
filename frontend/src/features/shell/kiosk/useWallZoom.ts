import { useViewportSize } from '@mantine/hooks'

/** The width that pages are laid out for on a wall, in CSS pixels: larger screens show larger text, not more of it. */
const LAID_OUT = 1_280
const LEAST = 1.15
const MOST = 4

/** Return the magnification of a wall screen: text of 13 pixels is 20 high on a screen 1,920 wide. */
export function useWallZoom(): number {
  const { width } = useViewportSize()
  return width === 0 ? LEAST : Math.min(MOST, Math.max(LEAST, width / LAID_OUT))
}
