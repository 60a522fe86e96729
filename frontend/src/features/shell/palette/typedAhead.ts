/** Characters that a person types between asking for the palette and seeing its field, whose code may still load. */

/** Without its code, for example without a connection, the keys belong to the page again after this time. */
const PATIENCE_MS = 3_000

let typed = ''
let end: (() => void) | undefined

/** Take the characters from now on, until `leaveToField` is called. */
export function typeAhead() {
  end?.()
  typed = ''
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Backspace') typed = typed.slice(0, -1)
    else if (event.key.length === 1) typed += event.key
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const patience = setTimeout(() => end?.(), PATIENCE_MS)
  window.addEventListener('keydown', onKeyDown, { capture: true })
  end = () => {
    clearTimeout(patience)
    window.removeEventListener('keydown', onKeyDown, { capture: true })
    end = undefined
  }
}

/** Return the characters typed so far. */
export const typedAhead = () => typed

/** Leave the next characters to the field, which has the focus now; return all before, undefined if none were taken. */
export function leaveToField(): string | undefined {
  if (!end) return undefined
  end()
  const all = typed
  typed = ''
  return all
}
