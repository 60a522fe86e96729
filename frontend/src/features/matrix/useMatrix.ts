/** Grid, axes, colours and a steady scale of the heatmap, from the newest response. */

import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { vmsQuery, zonesQuery } from '~/api/inventory'
import type { Matrix } from '~/api/matrix'
import { isOfWorstHours, matrixQuery, type Shown } from '~/api/measurements'
import { useWaiting } from '~/api/waiting'
import { type Grid, type Places, pick, rearrange } from '~/charts/heatmap/grid'
import { colourTable, pack, QUIET, type Theme } from '~/charts/heatmap/palette'
import { type Domain, fits, percentiles, position, roundDomain } from '~/charts/heatmap/scale'
import { type Coding, codeCount, codeOfValue, leastCode, valueOfCode } from '~/lib/codes'
import type { MatrixMetric } from '~/lib/dimensions'
import { facts, title } from '~/lib/metrics'
import { numbers } from '~/lib/searchParams'
import { type Part, type Range, wholePart, zonePairPart } from './axes'
import { closedZones } from './closed'
import { onlyMatches } from './matches'
import { ramp, worst } from './metrics'
import type { MatrixSearch } from './search'
import { namedOf } from './selection'
import { strings } from './strings'
import { useOrder } from './useOrder'

/** Return the meaning of the codes of a matrix. */
export function codingOf({ metric, when }: Shown): Coding {
  if (!when?.versus) return metric
  if (when.percent) return 'percent'
  return metric === 'loss' ? 'loss_difference' : 'difference'
}

/** Mark values within their clock error. An asymmetry has the error of both directions. */
export function withinError(metric: MatrixMetric, codes: Uint16Array, errors: Uint16Array): Uint8Array {
  const factor = metric === 'asymmetry' ? 2 : 1
  const reach = Array.from(
    { length: codeCount('clock_error') },
    (_, code) => (valueOfCode('clock_error', code) ?? 0) * factor,
  )
  const sizes = Array.from({ length: codeCount(metric) }, (_, code) =>
    code < leastCode(metric) ? 0 : Math.abs(valueOfCode(metric, code) ?? 0),
  )
  const faint = new Uint8Array(codes.length)
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number
    const error = errors[i] as number
    if (code > 0 && error > 0 && (sizes[code] as number) < (reach[error] as number)) faint[i] = 1
  }
  return faint
}

/** Return the places of the rows or columns of a matrix of `size` among the lines of a heatmap. */
export function placesOf(lines: readonly Range[], size: number): Places {
  const at = new Int32Array(size).fill(-1)
  lines.forEach(({ first, count }, place) => {
    at.fill(place, first, first + count)
  })
  return { at, count: lines.length }
}

const isWhole = (lines: readonly Range[], size: number) =>
  lines.length === size && lines.every(({ first }, place) => first === place)

/** The cells of a part: `from` is the index of each in the matrix; absent when they are all of it, in its order. */
export interface PartGrid extends Grid {
  from?: Uint32Array
}

/** Return the cells of a part; a closed zone has the worst of its paths. */
function gridOf(
  metric: MatrixMetric,
  coding: Coding,
  matrix: Matrix,
  errors: Matrix | undefined,
  part: Part,
): PartGrid {
  const whole: Grid = { rows: matrix.rows, columns: matrix.columns, codes: matrix.codes, looks: matrix.states }
  const { rows, columns } = part
  const isAll = isWhole(rows, matrix.rows) && isWhole(columns, matrix.columns)
  const chosen = isAll
    ? undefined
    : rearrange(whole, placesOf(rows, matrix.rows), placesOf(columns, matrix.columns), worst(coding))
  const fitsErrors = errors && errors.revision === matrix.revision && errors.rows === matrix.rows
  if (!chosen) return { ...whole, faint: fitsErrors ? withinError(metric, matrix.codes, errors.codes) : undefined }
  const reach = fitsErrors ? pick(errors.codes, chosen.from, new Uint16Array(chosen.from.length)) : undefined
  return { ...chosen, faint: reach && withinError(metric, chosen.codes, reach) }
}

/** The default colour shows delays: paths that lose this share of a window or more have a mark. One packet is 1 % of it. */
export const LOSSY = 0.05

interface Losses {
  /** The cells of a grid that lose much, by their index, ascending. */
  cells: number[]
  /** The loss of such a cell. */
  of: (cell: number) => number | null
}

const NO_LOSSES: Losses = { cells: [], of: () => null }

function lossesOf(grid: PartGrid, { codes }: Matrix): Losses {
  const least = codeOfValue('loss', LOSSY)
  const codeAt = (cell: number) => codes[grid.from?.[cell] ?? cell] ?? 0
  const cells: number[] = []
  for (let cell = 0; cell < grid.codes.length; cell++) if (codeAt(cell) >= least) cells.push(cell)
  return { cells, of: (cell) => (codeAt(cell) >= least ? valueOfCode('loss', codeAt(cell)) : null) }
}

/** Return the rounded 1st to 99th percentile of the shown values, kept until the values differ strongly from it. */
function useHeldDomain(key: string, metric: Coding, grid: Grid | undefined, fixed: Domain | null): Domain {
  const { scale, least } = facts(metric)
  const [held, setHeld] = useState<{ key: string; domain: Domain } | null>(null)
  const shown = useMemo(() => grid && percentiles(grid, (code) => valueOfCode(metric, code)), [grid, metric])
  if (shown && (held?.key !== key || !fits(scale, held.domain, shown, least))) {
    const domain = roundDomain(scale, shown, least)
    // Setting state while rendering is React's way to derive it from what came before; the guard ends the loop.
    if (held?.key !== key || held.domain.low !== domain.low || held.domain.high !== domain.high)
      setHeld({ key, domain })
  }
  return (
    fixed ?? (held?.key === key ? held.domain : roundDomain(scale, shown ?? { low: 10_000, high: 1_000_000 }, least))
  )
}

/** "One-way delay, p99", or "Change of one-way delay, p99". */
export function matrixTitle(shown: Shown): string {
  const of = title(shown.metric, shown.statistic)
  if (isOfWorstHours(shown)) return strings.worstHourOf(of)
  if (shown.slowest && shown.metric !== 'predicted_loss') return strings.ofSlowestFlow(of)
  return shown.when?.versus ? strings.changeOf(of.charAt(0).toLowerCase() + of.slice(1)) : of
}

export function useMatrix(meshId: string, chosen: Shown, search: MatrixSearch, theme: Theme) {
  const options = matrixQuery(meshId, chosen)
  const query = useQuery(options)
  const waiting = useWaiting(options.queryKey)
  // The screen may still show the response to the previous query.
  const shown: Shown = query.data?.of ?? chosen
  const coding = codingOf(shown)
  const { isClocked, scale } = facts(coding)
  const errors = useQuery({
    ...matrixQuery(meshId, { ...shown, metric: 'clock_error', slowest: false, estimates: false }),
    enabled: isClocked && query.data !== undefined,
  })
  const lost = useQuery({
    ...matrixQuery(meshId, { ...shown, metric: 'loss', slowest: false, estimates: false }),
    enabled: coding === 'deviation' && shown.by === 'vm' && !shown.when && query.data !== undefined,
  })
  const matrix = query.data?.matrix
  const roster = query.data?.roster
  const errorMatrix = errors.data?.of.by === shown.by ? errors.data.matrix : undefined

  const { data: zones } = useQuery(zonesQuery)
  const { data: vms } = useQuery({ ...vmsQuery, enabled: Boolean(search.find) })
  const entries = useMemo(() => (roster ? namedOf(roster, shown.by, zones, vms) : []), [roster, shown.by, zones, vms])
  const complete = useMemo(() => {
    if (!roster) return undefined
    const [from, to] = search.zones?.split(',') ?? []
    const pair = shown.by === 'vm' && from && to ? zonePairPart(roster, [from, to]) : undefined
    return pair ?? wholePart(roster, shown.by, zones, closedZones(search.closed))
  }, [roster, shown.by, search.zones, search.closed, zones])
  const text = search.only ? search.find : undefined
  const matches = useMemo(
    () => (complete && text ? onlyMatches(complete, entries, text) : undefined),
    [complete, entries, text],
  )
  const inZones = matches?.part ?? complete
  const cells = useCallback(
    () => matrix && inZones && gridOf(shown.metric, coding, matrix, undefined, inZones),
    [matrix, inZones, shown.metric, coding],
  )
  const { part, isOrdering, again } = useOrder({
    order: search.order ?? 'zone',
    part: inZones,
    cells,
    worst: worst(coding),
    // Another time has the same order: rows must not move while the film plays.
    values: `${coding} ${shown.app} ${shown.statistic} ${shown.slowest}`,
  })

  const grid = useMemo(
    () => matrix && part && gridOf(shown.metric, coding, matrix, isClocked ? errorMatrix : undefined, part),
    [matrix, errorMatrix, shown.metric, coding, isClocked, part],
  )
  const lostMatrix = lost.data?.matrix
  const losses = useMemo(
    () =>
      grid && lostMatrix && coding === 'deviation' && lostMatrix.codes.length === matrix?.codes.length && !shown.when
        ? lossesOf(grid, lostMatrix)
        : NO_LOSSES,
    [grid, lostMatrix, matrix, coding, shown.when],
  )
  const fixedText = coding === codingOf(chosen) ? search.scale : undefined
  const fixed = useMemo(() => {
    const ends = numbers(fixedText, 2)
    return ends ? { low: ends[0] as number, high: ends[1] as number } : null
  }, [fixedText])
  const domain = useHeldDomain(
    `${meshId} ${part?.key} ${coding} ${shown.statistic} ${shown.slowest}`,
    coding,
    grid,
    fixed,
  )
  const { low, high } = domain

  const colours = useMemo(() => {
    const at = (code: number) => {
      if (code < leastCode(coding)) return null
      const value = valueOfCode(coding, code)
      if (value === null) return null
      const place = position(scale, { low, high }, value)
      // The smallest unusual value is a step away from the middle of the ramp, which is the colour of usual values.
      return coding === 'deviation' && value !== 0
        ? 0.5 + Math.sign(value) * Math.max(Math.abs(place - 0.5), 1 / 256)
        : place
    }
    const table = colourTable(codeCount(coding), at, ramp(coding, theme), theme)
    // Most cells lose nothing: that must not stand out.
    if (coding === 'loss' || coding === 'predicted_loss') table.plain[codeOfValue(coding, 0)] = pack(QUIET[theme])
    return table
  }, [coding, scale, low, high, theme])

  return {
    query,
    waiting,
    shown,
    coding,
    matrix,
    roster,
    grid,
    part,
    entries,
    matches,
    isOrdering,
    again,
    losses,
    colours,
    domain,
    isFixed: fixed !== null,
  }
}
