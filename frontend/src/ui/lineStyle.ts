/** Lines of equal rank in one chart differ by colour and by dashes. */

const DASHES = [undefined, '7 4', '2 3', '9 3 2 3', '12 4', '4 2']

/** Return the colour and dashes of the n-th line; the dashes advance each time the colours repeat. */
export function lineStyle(n: number) {
  const dash = DASHES[(n + Math.floor(n / DASHES.length)) % DASHES.length]
  return { colour: `var(--line-${(n % DASHES.length) + 1})`, ...(dash ? { dash } : {}) }
}
