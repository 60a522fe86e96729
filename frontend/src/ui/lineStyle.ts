/** Lines of equal rank in one chart differ by colour and by dashes. */

const DASHES = [undefined, '7 4', '2 3', '9 3 2 3', '12 4', '4 2']

/** The n-th line: its colour and its dashes, which go on by one each time the colours begin again. */
export function lineStyle(n: number) {
  const dash = DASHES[(n + Math.floor(n / DASHES.length)) % DASHES.length]
  return { colour: `var(--line-${(n % DASHES.length) + 1})`, ...(dash ? { dash } : {}) }
}
