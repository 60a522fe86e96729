import { useEffect } from 'react'

/** A window that a shortcut opens over the page. */
export type Overlay = 'palette' | 'shortcuts'

/** Elements that take typed characters. A tick box, a radio button or a slider does not. */
const TYPES =
  'input:not([type="checkbox"], [type="radio"], [type="range"], [type="button"], [type="submit"]), textarea, select, [contenteditable]'

/** The field that searches the page. */
const PAGE_SEARCH = 'main :is(input[type="search"], [role="searchbox"])'

/** Return what a key asks for; undefined where the key belongs to a field or an open dialog. */
function shortcutOf(event: KeyboardEvent): Overlay | HTMLElement | undefined {
  const { target, key, altKey, ctrlKey, metaKey, shiftKey } = event
  if (event.defaultPrevented || altKey || (target instanceof Element && target.closest(TYPES))) return undefined
  if (document.querySelector('[aria-modal="true"]')) return undefined
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k' && !shiftKey ? 'palette' : undefined
  if (key === '?') return 'shortcuts'
  if (key === '/') return document.querySelector<HTMLElement>(PAGE_SEARCH) ?? 'palette'
  return undefined
}

/** Handle the shortcuts that work anywhere on the page: Ctrl-K or Cmd-K, "?" and "/". */
export function useShortcuts(show: (overlay: Overlay) => void) {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const asked = shortcutOf(event)
      if (!asked) return
      event.preventDefault()
      if (asked instanceof HTMLElement) asked.focus()
      else show(asked)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [show])
}
