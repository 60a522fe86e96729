/** How often a rule fires in a row of windows. */
export const firings = (firing: readonly boolean[]): number => firing.filter((now, at) => now && !firing[at - 1]).length

/** "It would have fired twice." */
export function firingWords(times: number): string {
  if (times === 0) return 'It would not have fired.'
  return `It would have fired ${times === 1 ? 'once' : times === 2 ? 'twice' : `${times} times`}.`
}
