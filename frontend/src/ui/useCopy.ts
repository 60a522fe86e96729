import { useEffect, useState } from 'react'

/** Return a function that copies text, and true for two seconds after it did. */
export function useCopy() {
  const [copied, setCopied] = useState(false)

  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [copied])

  async function copy(text: string) {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      setCopied(copySelected(text))
    }
  }

  return { copied, copy }
}

/** Copy by a selected field: on plain HTTP there is no clipboard to write to. Return true if the browser did. */
function copySelected(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  // Inside an open dialog, which keeps the focus to itself.
  const parent = document.activeElement?.parentElement ?? document.body
  parent.append(field)
  const focused = document.activeElement
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return done
}
