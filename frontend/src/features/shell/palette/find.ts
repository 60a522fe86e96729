/** Search of the palette: words against names. */

export interface Findable {
  name: string
  /** Distinguishing words for equal names: a zone, a mesh. */
  detail?: string | undefined
}

export interface Found<T> {
  item: T
  /** The smaller, the nearer; 0 is the name itself. */
  rank: number
}

const ARROWS = new Set(['→', '->', '>'])

/** Return the words of a query in lower case, without the arrow of a path. */
export const wordsOf = (query: string): string[] =>
  query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word && !ARROWS.has(word))

const startsPart = (text: string, at: number) => at === 0 || /[\s\-_./:]/.test(text[at - 1] as string)

/** Return how near a word is: the name itself, its start, the start of a part, inside it, the start of a part of the detail. */
function nearness(word: string, name: string, detail: string): number | undefined {
  const at = name.indexOf(word)
  if (at === 0) return word.length === name.length ? 0 : 1
  if (at > 0) return startsPart(name, at) ? 2 : 3
  const inDetail = detail.indexOf(word)
  return inDetail >= 0 && startsPart(detail, inDetail) ? 4 : undefined
}

/** Return the mean nearness of all words; undefined if one does not occur. Without a word, everything is found. */
export function nameRank(words: readonly string[], { name, detail = '' }: Findable): number | undefined {
  const lowName = name.toLowerCase()
  if (words.length > 1 && words.join(' ') === lowName) return 0
  const lowDetail = detail.toLowerCase()
  let sum = 0
  for (const word of words) {
    const rank = nearness(word, lowName, lowDetail)
    if (rank === undefined) return undefined
    sum += rank
  }
  return words.length === 0 ? 0 : sum / words.length
}

/** Return the nearest items, nearest first; of equally near ones, the shorter names first. */
export function findNearest<T extends Findable>(items: readonly T[], words: readonly string[], limit: number) {
  const found: Found<T>[] = []
  for (const item of items) {
    const rank = nameRank(words, item)
    if (rank !== undefined) found.push({ item, rank })
  }
  // Without a word the order of the list has its own meaning.
  if (words.length > 0) found.sort((a, b) => a.rank - b.rank || a.item.name.length - b.item.name.length)
  return found.slice(0, limit)
}

/** Return the paths that two words name: from a VM like the first to one like the second ("web-20 db-21"). */
export function findPaths<T extends Findable>(vms: readonly T[], words: readonly string[], limit: number) {
  const [from, to] = words.length === 3 && words[1] === 'to' ? [words[0], words[2]] : words
  if (!from || !to || (words.length !== 2 && words[1] !== 'to')) return []
  const sources = findNearest(vms, [from], limit)
  const targets = findNearest(vms, [to], limit)
  return sources
    .flatMap((source) =>
      targets
        .filter((target) => target.item !== source.item)
        .map((target) => ({ source: source.item, target: target.item, rank: (source.rank + target.rank) / 2 })),
    )
    .sort((a, b) => a.rank - b.rank)
    .slice(0, limit)
}
