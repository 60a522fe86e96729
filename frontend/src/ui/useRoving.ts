import { type KeyboardEvent, useState } from 'react'

const STEPS: Record<string, { rows: number; columns: number }> = {
  ArrowLeft: { rows: 0, columns: -1 },
  ArrowRight: { rows: 0, columns: 1 },
  ArrowUp: { rows: -1, columns: 0 },
  ArrowDown: { rows: 1, columns: 0 },
}

/** Return the next link from `index` in the direction of an arrow key; undefined at the edge. */
export function nextLink(isLink: readonly boolean[], columns: number, index: number, key: string): number | undefined {
  const step = STEPS[key]
  if (!step) return undefined
  let row = Math.floor(index / columns) + step.rows
  let column = (index % columns) + step.columns
  while (column >= 0 && column < columns && row >= 0 && row * columns + column < isLink.length) {
    const next = row * columns + column
    if (isLink[next]) return next
    row += step.rows
    column += step.columns
  }
  return undefined
}

/**
 * Make the links of a grid one stop of the Tab key; arrow keys move between them. Spread the result for an index on its
 * link, and put `data-roving` on an element around the grid.
 */
export function useRoving(isLink: readonly boolean[], columns: number) {
  const [chosen, setChosen] = useState(0)
  const current = isLink[chosen] ? chosen : isLink.indexOf(true)
  return (index: number) => ({
    'data-index': index,
    tabIndex: index === current ? 0 : -1,
    onFocus: () => setChosen(index),
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      const next = nextLink(isLink, columns, index, event.key)
      if (next === undefined) return
      event.preventDefault()
      event.currentTarget.closest('[data-roving]')?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus()
    },
  })
}
