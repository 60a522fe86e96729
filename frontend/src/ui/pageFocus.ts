/**
 * Focus after a navigation. A browser that loads a page starts at its top and reads its title; a page that only
 * replaces its content has to do both: the heading takes the focus, so it is read and the keyboard starts there.
 */

import type { AnyRouter, RouterHistory } from '@tanstack/react-router'

/** A heading that appears later takes no focus: the reader is elsewhere by then. */
const LATEST_MS = 10_000

/** After Back, an element with this attribute takes the focus instead of the heading. */
const RETURN = '[data-return-focus]'

/** Move the focus whenever `router` shows another page. Return a function that stops it. */
export function focusPages(router: AnyRouter): () => void {
  let isReturn = false
  let stop = () => {}
  const history: RouterHistory = router.history
  const stopHistory = history.subscribe(({ action }) => {
    isReturn = action.type === 'BACK' || action.type === 'FORWARD' || action.type === 'GO'
  })
  const stopRouter = router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
    if (!fromLocation || !pathChanged) return
    stop()
    stop = focusPage(isReturn)
  })
  return () => {
    stopHistory()
    stopRouter()
    stop()
  }
}

/** Focus the page once its heading is there; until then its `main`. Return a function that gives up. */
function focusPage(isReturn: boolean): () => void {
  // A page may give the focus to its first field itself.
  if (document.activeElement?.matches('main :is(input, select, textarea)')) return () => {}
  const main = document.querySelector('main')
  if (!main || focusHeading(main, isReturn)) return () => {}
  main.tabIndex = -1
  main.focus({ preventScroll: true })
  const observer = new MutationObserver(() => {
    const isElsewhere = document.activeElement !== main && document.activeElement !== document.body
    if (isElsewhere || focusHeading(main, isReturn)) stop()
  })
  const timer = setTimeout(() => observer.disconnect(), LATEST_MS)
  const stop = () => {
    clearTimeout(timer)
    observer.disconnect()
  }
  observer.observe(main, { childList: true, subtree: true })
  return stop
}

function focusHeading(main: HTMLElement, isReturn: boolean): boolean {
  const kept = isReturn ? main.querySelector<HTMLElement>(RETURN) : null
  const heading = main.querySelector<HTMLElement>('h1')
  if (!kept && heading) heading.tabIndex = -1
  const target = kept ?? heading
  target?.focus({ preventScroll: true })
  return target !== null
}
