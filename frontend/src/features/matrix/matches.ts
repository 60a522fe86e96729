/** Rows and columns that match a text, alone. */

import type { Axis } from '~/charts/heatmap/axis'
import type { Line, Part } from './axes'
import { isMatch, type Named } from './selection'

export interface Matches {
  part: Part
  /** Numbers of VMs or zones. */
  shown: number
  of: number
  /** False when nothing matches, so that all is shown. */
  isFound: boolean
}

/** Return the places of lines with a match. A closed zone stands for its VMs. */
const matching = (lines: readonly Line[], entries: readonly Named[], text: string): number[] =>
  lines.flatMap(({ first, count }, at) =>
    entries.slice(first, first + count).some((entry) => isMatch(entry, text)) ? [at] : [],
  )

/** Return an axis with only the lines at these ascending places, under the headings they had. */
function narrowed({ title, labels, titles, groups }: Axis, places: readonly number[]): Axis {
  const of = (texts: readonly string[]) => places.map((at) => texts[at] as string)
  return {
    title,
    labels: of(labels),
    ...(titles && { titles: of(titles) }),
    groups: groups
      .map((level) =>
        level.flatMap((group) => {
          const within = places.filter((at) => at >= group.first && at < group.first + group.count)
          return within.length === 0
            ? []
            : [{ ...group, first: places.indexOf(within[0] as number), count: within.length }]
        }),
      )
      .filter((level) => level.length > 0),
  }
}

const countOf = (lines: readonly Line[][]) =>
  new Set(lines.flat().flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at))).size

/** Return the part with only the rows and columns that match; a side without a match keeps all rows or columns. */
export function onlyMatches(part: Part, entries: readonly Named[], text: string): Matches {
  const isSquare = part.rows === part.columns
  const found = [part.rows, part.columns].map((lines) => matching(lines, entries, text))
  const [rows, columns] = found.map((places, side) =>
    places.length > 0 ? places : (side === 0 ? part.rows : part.columns).map((_, at) => at),
  ) as [number[], number[]]
  const down = rows.map((at) => part.rows[at] as Line)
  const across = isSquare ? down : columns.map((at) => part.columns[at] as Line)
  const of = countOf([part.rows, part.columns])
  if (down.length === part.rows.length && across.length === part.columns.length) {
    return { part, shown: of, of, isFound: found.some(({ length }) => length > 0) }
  }
  return {
    part: {
      ...part,
      rows: down,
      columns: across,
      axes: { rows: narrowed(part.axes.rows, rows), columns: narrowed(part.axes.columns, columns) },
    },
    shown: countOf([down, across]),
    of,
    isFound: true,
  }
}
