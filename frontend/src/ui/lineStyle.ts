/** Lines of equal rank in one chart: told apart by colour and by dashes. */

const DASHES = [undefined, '7 4', '2 3', '9 3 2 3', '12 4', '4 2']

/** The n-th line: its colour and its dashes. */
export const lineStyle = (n: number) => ({
  colour: `var(--line-${(n % DASHES.length) + 1})`,
  ...(DASHES[n % DASHES.length] ? { dash: DASHES[n % DASHES.length] as string } : {}),
})
