import { useLayoutEffect } from 'react'

/** The kit waits as long before it gives the focus back itself. */
const CLOSING_MS = 20

/**
 * Give the focus back to what had it before a dialog opened. The kit does so only for a dialog that is mounted closed
 * and stays mounted; many of ours come and go with the object that they are about.
 */
export function useFocusBack(opened: boolean) {
  useLayoutEffect(() => {
    if (!opened) return
    const opener = document.activeElement
    return () => {
      setTimeout(() => {
        const isLost = document.activeElement === null || document.activeElement === document.body
        if (isLost && opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true })
      }, CLOSING_MS)
    }
  }, [opened])
}
