import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { aroundPrinting } from '~/lib/printing'

/** Mantine's attribute of the theme. Mantine writes a forced theme only after the charts have read their colours. */
const THEME = 'data-mantine-color-scheme'

/** Return true while the browser prints, in the light theme. The page is drawn again before the browser prints. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    const root = document.documentElement
    let onScreen: string | null = null
    return aroundPrinting(
      () => {
        onScreen = root.getAttribute(THEME)
        root.setAttribute(THEME, 'light')
        flushSync(() => setPrinting(true))
      },
      () => {
        if (onScreen) root.setAttribute(THEME, onScreen)
        setPrinting(false)
      },
    )
  }, [])
  return isPrinting
}
