/** Characters that a person types between asking for the palette and seeing its field, whose code may still load. */

/** Without its code, for example without a connection, the keys belong to the page again after this time. */
const PATIENCE_MS = 3_000

let typed = ''
let end = () => {}

/** Take the characters from now on, until `typedAhead` is called. */
export function typeAhead() {
  end()
  typed = ''
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Backspace') typed = typed.slice(0, -1)
    else if (event.key.length === 1) typed += event.key
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const patience = setTimeout(() => end(), PATIENCE_MS)
  window.addEventListener('keydown', onKeyDown, { capture: true })
  end = () => {
    clearTimeout(patience)
    window.removeEventListener('keydown', onKeyDown, { capture: true })
  }
}

/** Return the characters typed since, and leave the next ones to the field. */
export function typedAhead(): string {
  end()
  return typed
}
