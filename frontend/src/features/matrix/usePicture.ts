/** From the newest answer to what the heatmap paints: grid, axis, colours and a steady scale. */

import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Matrix } from '~/api/matrix'
import { pictureQuery, type Shown } from '~/api/measurements'
import type { Roster } from '~/api/types'
import { useWaiting } from '~/api/waiting'
import type { Axis } from '~/charts/heatmap/Axes'
import type { Grid } from '~/charts/heatmap/grid'
import { colourTable, pack, QUIET, type Theme } from '~/charts/heatmap/palette'
import { type Domain, fits, percentiles, position, roundDomain } from '~/charts/heatmap/scale'
import { type Coding, codeCount, codeOfValue, leastCode, valueOfCode } from '~/lib/codes'
import type { Granularity, Metric } from '~/lib/dimensions'
import { facts, title } from '~/lib/metrics'
import { numbers } from '~/lib/searchParams'
import { ramp } from './metrics'
import type { MatrixSearch } from './search'
import { strings } from './strings'

/** What the codes of a picture stand for. */
export function codingOf({ metric, when }: Shown): Coding {
  if (!when?.versus) return metric
  if (when.percent) return 'percent'
  return metric === 'loss' ? 'loss_difference' : 'difference'
}

export interface Entry {
  id: string
  name: string
  zone: string | null
}

/** The rows, which are also the columns. */
export function entriesOf(roster: Roster, by: Granularity): Entry[] {
  return by === 'zone'
    ? roster.zones.map(({ id, name }) => ({ id, name, zone: null }))
    : roster.vms.map(({ id, name, zone_name }) => ({ id, name, zone: zone_name }))
}

function axisOf(roster: Roster, by: Granularity): Axis {
  return {
    labels: entriesOf(roster, by).map(({ name }) => name),
    groups: by === 'zone' ? [] : roster.zones.filter(({ count }) => count > 0),
    rowTitle: 'from',
    columnTitle: 'to',
  }
}

/** Marks the values that their clock error could explain away. An asymmetry carries the error of both directions. */
export function withinError(metric: Metric, codes: Uint16Array, errors: Uint16Array): Uint8Array {
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

function gridOf(metric: Metric, matrix: Matrix, errors: Matrix | undefined): Grid {
  const fitsErrors = errors && errors.revision === matrix.revision && errors.rows === matrix.rows
  return {
    rows: matrix.rows,
    columns: matrix.columns,
    codes: matrix.codes,
    looks: matrix.states,
    faint: fitsErrors ? withinError(metric, matrix.codes, errors.codes) : undefined,
  }
}

/** The 1st to 99th percentile of what is shown, rounded, and kept until the values have left it far behind. */
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

/** "One-way delay, p99", or what has changed of it. */
export function pictureTitle(shown: Shown): string {
  const of = title(shown.metric, shown.statistic)
  if (shown.slowest) return strings.ofSlowestFlow(of)
  return shown.when?.versus ? strings.changeOf(of.charAt(0).toLowerCase() + of.slice(1)) : of
}

export function usePicture(meshId: string, wanted: Shown, search: MatrixSearch, theme: Theme) {
  const asked = pictureQuery(meshId, wanted)
  const query = useQuery(asked)
  const waiting = useWaiting(asked.queryKey)
  // What is on the screen may still be the answer to the question before.
  const shown: Shown = query.data?.of ?? wanted
  const coding = codingOf(shown)
  const { isClocked, scale } = facts(coding)
  const errors = useQuery({
    ...pictureQuery(meshId, { ...shown, metric: 'clock_error', slowest: false }),
    enabled: isClocked && query.data !== undefined,
  })
  const matrix = query.data?.matrix
  const roster = query.data?.roster
  const errorMatrix = errors.data?.of.by === shown.by ? errors.data.matrix : undefined

  const grid = useMemo(
    () => matrix && gridOf(shown.metric, matrix, isClocked ? errorMatrix : undefined),
    [matrix, errorMatrix, shown.metric, isClocked],
  )
  const fixedText = coding === codingOf(wanted) ? search.scale : undefined
  const fixed = useMemo(() => {
    const ends = numbers(fixedText, 2)
    return ends ? { low: ends[0] as number, high: ends[1] as number } : null
  }, [fixedText])
  const domain = useHeldDomain(
    `${meshId} ${shown.by} ${coding} ${shown.statistic} ${shown.slowest}`,
    coding,
    grid,
    fixed,
  )
  const { low, high } = domain

  const colours = useMemo(() => {
    const at = (code: number) => {
      if (code < leastCode(coding)) return null
      const value = valueOfCode(coding, code)
      return value === null ? null : position(scale, { low, high }, value)
    }
    const table = colourTable(codeCount(coding), at, ramp(coding, theme), theme)
    // No loss is the good news of almost every cell: it must not shine.
    if (coding === 'loss') table.plain[codeOfValue('loss', 0)] = pack(QUIET[theme])
    return table
  }, [coding, scale, low, high, theme])

  const axis = useMemo(() => roster && axisOf(roster, shown.by), [roster, shown.by])
  const entries = useMemo(() => (roster ? entriesOf(roster, shown.by) : []), [roster, shown.by])
  return {
    query,
    waiting,
    shown,
    coding,
    matrix,
    roster,
    grid,
    axis,
    entries,
    colours,
    domain,
    isFixed: fixed !== null,
  }
}

export type Picture = ReturnType<typeof usePicture>
