import { useEffect } from 'react'
import { useSingleKeys } from './useSingleKeys'

/** A window that a shortcut opens over the page. */
export type Overlay = 'palette' | 'shortcuts'

/** Elements that take typed characters. A tick box, a radio button or a slider does not. */
const TYPES =
  'input:not([type="checkbox"], [type="radio"], [type="range"], [type="button"], [type="submit"]), textarea, select, [contenteditable]'

/** The field that searches the page. */
const PAGE_SEARCH = 'main :is(input[type="search"], [role="searchbox"])'

const isLetter = (key: string) => /^[a-z]$/.test(key)

/** Return the function that the page or its bar has given to a letter, by `aria-keyshortcuts` of a link or button. */
function letterOf(key: string): (() => void) | undefined {
  const element = document.querySelector<HTMLElement>(`:is(main, header) [aria-keyshortcuts="${key}"]`)
  return element ? () => element.click() : undefined
}

/** Return what a key asks for; undefined where the key belongs to a field or an open dialog. */
function shortcutOf(event: KeyboardEvent, singleKeys: boolean): Overlay | (() => void) | undefined {
  const { target, key, altKey, ctrlKey, metaKey, shiftKey } = event
  if (event.defaultPrevented || altKey || (target instanceof Element && target.closest(TYPES))) return undefined
  if (document.querySelector('[aria-modal="true"]')) return undefined
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k' && !shiftKey ? 'palette' : undefined
  if (!singleKeys) return undefined
  if (key === '?') return 'shortcuts'
  if (key === '/') {
    const field = document.querySelector<HTMLElement>(PAGE_SEARCH)
    return field ? () => field.focus() : 'palette'
  }
  return isLetter(key) ? letterOf(key) : undefined
}

/**
 * Handle the shortcuts that work anywhere on the page: Ctrl-K or Cmd-K, and those of one character, which a person can
 * switch off: "?", "/", and the letters of the page.
 */
export function useShortcuts(show: (overlay: Overlay) => void) {
  const [singleKeys] = useSingleKeys()
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const asked = shortcutOf(event, singleKeys)
      if (!asked) return
      event.preventDefault()
      if (typeof asked === 'function') asked()
      else show(asked)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [show, singleKeys])
}
