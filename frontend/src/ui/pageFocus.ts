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

/**
 * Focus the heading of the page, until then its `main`; and again when the heading of a page that loads is replaced by
 * that of the loaded page. Return a function that gives up.
 */
function focusPage(isReturn: boolean): () => void {
  // A page may give the focus to its first field itself.
  if (document.activeElement?.matches('main :is(input, select, textarea)')) return () => {}
  const main = document.querySelector('main')
  if (!main) return () => {}
  let focused = focus(targetIn(main, isReturn))
  const observer = new MutationObserver(() => {
    const isElsewhere = document.activeElement !== (focused.isConnected ? focused : document.body)
    if (isElsewhere) return stop()
    const target = targetIn(main, isReturn)
    if (target !== focused) focused = focus(target)
  })
  const stop = () => {
    clearTimeout(timer)
    observer.disconnect()
  }
  const timer = setTimeout(stop, LATEST_MS)
  observer.observe(main, { childList: true, subtree: true })
  return stop
}

/** Return what takes the focus: what had it before Back, else the heading, else `main`. */
function targetIn(main: HTMLElement, isReturn: boolean): HTMLElement {
  const kept = isReturn ? main.querySelector<HTMLElement>(RETURN) : null
  return kept ?? main.querySelector<HTMLElement>('h1') ?? main
}

function focus(target: HTMLElement): HTMLElement {
  if (!target.matches(RETURN)) target.tabIndex = -1
  target.focus({ preventScroll: true })
  return target
}
