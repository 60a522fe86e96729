/** Names of rows, columns and groups in little room: shortened, but never so that two of them look the same. */

const DOTS = '…'
/** A shorter name says nothing. */
const LEAST = 3

/** Return the length of what all names begin with, up to and including a separator. */
function commonPrefix(names: readonly string[]): number {
  const [first = ''] = names
  let length = 0
  while (length < first.length && names.every((name) => name[length] === first[length])) length += 1
  return first.slice(0, length).search(/[^-._/: ]*$/)
}

const middle = (name: string, most: number, head: number) =>
  name.length <= most ? name : name.slice(0, head) + DOTS + name.slice(name.length - (most - head - 1))

/** Return names of at most `most` characters, each different from the others; null when there are none. */
export function shortened(names: readonly string[], most: number): string[] | null {
  if (names.every((name) => name.length <= most)) return [...names]
  if (most < LEAST) return null
  const distinct = new Set(names).size
  const isClear = (short: string[]) => new Set(short).size === distinct
  if (names.length > 1) {
    // A part that all names share does not tell them apart.
    const prefix = commonPrefix(names)
    const ends = names.map((name) => DOTS + name.slice(prefix))
    if (prefix > 1 && ends.every((end) => end.length <= most)) return ends
  }
  // Cut in the middle, at first in halves, then with more of the end or of the beginning.
  const half = Math.floor((most - 1) / 2)
  for (let shift = 0; shift <= half + 1; shift++) {
    for (const head of [half - shift, half + shift]) {
      if (head < 0 || head > most - 1) continue
      const short = names.map((name) => middle(name, most, head))
      if (isClear(short)) return short
    }
  }
  return null
}
