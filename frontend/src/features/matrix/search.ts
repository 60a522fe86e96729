/** Search parameters of the heatmap page. */

import * as v from 'valibot'
import {
  GRANULARITIES,
  type Granularity,
  MATRIX_METRICS,
  type MatrixMetric,
  STATISTICS,
  type Statistic,
} from '~/lib/dimensions'
import { FILMS, type Film } from '~/lib/film'
import { flag, identifier, integer, keyOf, moment, numberList, type Patch, searchParser } from '~/lib/searchParams'
import { ORDERS, type Order } from './order'

export interface MatrixSearch {
  by?: Granularity
  /** Changes from usual when absent, or one-way delays of a range. */
  metric?: MatrixMetric
  /** The application whose lost performance is shown: an id. */
  app?: string
  statistic?: Statistic
  /** The slowest flow of each path instead of all of them together. */
  flows?: 'slowest'
  /** Estimates of the pairs that are not measured. */
  estimates?: boolean
  /** Fixed ends of the colour scale, in ns or as a ratio: low, high. */
  scale?: string
  /** Zoom: first row, first column, how many are in view. */
  view?: string
  /** The zone pair whose VMs are rows and columns: ids of the source and the target zone. */
  zones?: string
  /** Zones shown as one row and column each: their ids, or "all" and the ids of those that are not. */
  closed?: string
  /** The order of rows and columns. */
  order?: Order
  /** The text whose rows and columns are marked, or shown alone. */
  find?: string
  /** Only the rows and columns that match `find` are shown. */
  only?: boolean
  /** The selected VM or zone, by its id. */
  select?: string
  /** The cell under the cursor: row, column. */
  cell?: string
  /** The difference to an earlier range in percent. */
  percent?: boolean
  /** The end of the shown step of the playback, RFC 3339; a range takes its place. */
  at?: string
  /** The range of the playback. */
  film?: Film
  /** The recommendation whose moves are drawn: an id. */
  moves?: string
  /** Number of moves that are shown as made; all when absent. */
  step?: number
  /** The number of the move that stands out. */
  move?: number
}

/** Changes the address; resolves once it has changed. Back returns to the address before if it `isStep`. */
export type ChangeSearch = (patch: Patch<MatrixSearch>, isStep?: boolean) => Promise<void>

export const matrixSearch = searchParser<MatrixSearch>(
  {
    by: v.picklist(GRANULARITIES),
    metric: v.picklist(MATRIX_METRICS),
    app: identifier,
    statistic: v.picklist(STATISTICS),
    flows: v.literal('slowest'),
    estimates: flag,
    scale: numberList(2, ([low, high]) => (low as number) < (high as number)),
    view: numberList(3, ([, , count]) => (count as number) >= 1),
    zones: v.pipe(v.string(), v.regex(/^[^,]+,[^,]+$/)),
    closed: v.pipe(v.string(), v.regex(/^[\w-]+(,[\w-]+)*$/)),
    order: v.picklist(ORDERS),
    // The router reads an address's digits as a number.
    find: v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.nonEmpty(), v.maxLength(200)),
    only: flag,
    select: identifier,
    cell: numberList(2, (indices) => indices.every((index) => Number.isInteger(index) && index >= 0)),
    percent: flag,
    at: moment,
    film: keyOf(FILMS),
    moves: identifier,
    step: integer(0),
    move: integer(1),
  },
  { by: 'vm', statistic: 'p50', order: 'zone', film: '1h' },
)
