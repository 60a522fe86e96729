/** Printing: charts are drawn for paper before it, and for the screen after it. */

/** The width of a page of paper within its margins (A4 upright) and those of a panel, in CSS pixels. */
export const PAPER_WIDTH = 620

let isPrinting = false

if (typeof window !== 'undefined') {
  // Registered before those of any chart, so that each finds the answer.
  window.addEventListener('beforeprint', () => {
    isPrinting = true
  })
  window.addEventListener('afterprint', () => {
    isPrinting = false
  })
}

/** Return the width that a chart may fill, in CSS pixels: of its element, or of the paper where that is narrower. */
export const drawnWidth = (element: HTMLElement) =>
  isPrinting ? Math.min(element.clientWidth, PAPER_WIDTH) : element.clientWidth

/** Call `before` when the browser prints, and `after` when it has; return a function that stops. */
export function aroundPrinting(before: () => void, after: () => void): () => void {
  window.addEventListener('beforeprint', before)
  window.addEventListener('afterprint', after)
  return () => {
    window.removeEventListener('beforeprint', before)
    window.removeEventListener('afterprint', after)
  }
}
