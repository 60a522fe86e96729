import { useEffect, useRef } from 'react'

interface Actions {
  openPalette: () => void
  openShortcuts: () => void
}

/** What takes typed characters. A tick box, a radio button or a slider does not. */
const TYPES =
  'input:not([type="checkbox"], [type="radio"], [type="range"], [type="button"], [type="submit"]), textarea, select, [contenteditable]'

/** The field that searches the page. */
const PAGE_SEARCH = 'main :is(input[type="search"], [role="searchbox"])'

/** Return the action of a key; undefined where the key belongs to a field or an open dialog. */
function actionOf(event: KeyboardEvent, { openPalette, openShortcuts }: Actions): (() => void) | undefined {
  const { target, key, altKey, ctrlKey, metaKey, shiftKey } = event
  if (event.defaultPrevented || altKey || (target instanceof Element && target.closest(TYPES))) return undefined
  if (document.querySelector('[aria-modal="true"]')) return undefined
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k' && !shiftKey ? openPalette : undefined
  if (key === '?') return openShortcuts
  if (key === '/') {
    const field = document.querySelector<HTMLInputElement>(PAGE_SEARCH)
    return field ? () => field.focus() : openPalette
  }
  return undefined
}

/** Call the actions at their keys, anywhere on the page: Ctrl-K or Cmd-K, "?" and "/". */
export function useShortcuts(actions: Actions) {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const action = actionOf(event, latest.current)
      if (!action) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}
