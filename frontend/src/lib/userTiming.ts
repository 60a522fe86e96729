/** Times of the page for the browser's profiler and the benchmark (W3C User Timing). */

/** Mark this moment. Only the newest mark of a name is kept, because a page may stay open for weeks. */
export function markTime(name: string): void {
  performance.clearMarks(name)
  performance.mark(name)
}
