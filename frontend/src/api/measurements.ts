/** Measurements: matrices, paths, series. */

import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import { codeOfValue } from '~/lib/codes'
import type { Granularity, MatrixMetric, Statistic } from '~/lib/dimensions'
import { type Film, stepRange } from '~/lib/film'
import { baseOf, isMoving, rangeOf, secondsOf, type TimeRange, type TimeSearch, timeIn } from '~/lib/spans'
import { markTime } from '~/lib/userTiming'
import { sensitivityQuery } from './applications'
import { client, get } from './client'
import { type Context, responseOrOutput } from './jobs'
import { type Matrix, parseMatrix } from './matrix'
import { rosterQuery } from './meshes'
import { reading } from './query'

/** The time of a matrix: a range instead of the newest windows, optionally minus an earlier range. */
export interface When extends TimeSearch {
  percent: boolean
}

function whenOf({ percent, at, film, ...search }: MatrixChoice): When | undefined {
  const time = timeIn(search)
  if (at && isMoving(time) && !time.span) return { ...stepRange(film ?? '1h', Date.parse(at)), percent: false }
  if (Object.keys(time).length === 0) return undefined
  return { ...time, percent: percent ?? false }
}

/** The length of the range of a heatmap that names none. */
export const MATRIX_SPAN = '5m'
/** The length of the history of a path that names none. */
export const PATH_SPAN = '15m'

/** Return the range of a heatmap. */
export const matrixRange = (when: When): TimeRange => rangeOf(when, MATRIX_SPAN)

/** The values that a heatmap shows. */
export interface Shown {
  by: Granularity
  metric: MatrixMetric
  /** The application whose lost performance is shown. */
  app: string | undefined
  statistic: Statistic
  /** Only the slowest flow of each path. */
  slowest: boolean
  /** Also estimates of the pairs that are not measured. */
  estimates?: boolean
  when: When | undefined
}

/** Return true when the shown values can be estimated. */
export const hasEstimates = ({ by, metric, slowest, when }: Pick<Shown, 'by' | 'metric' | 'slowest' | 'when'>) =>
  by === 'vm' && (metric === 'one_way_delay' || metric === 'round_trip') && !slowest && !when?.versus

/** Return true when the shown values distinguish flows. */
export const hasFlows = ({ by, metric, statistic, when }: Omit<Shown, 'slowest' | 'app'>) =>
  by === 'vm' &&
  (metric === 'one_way_delay' || metric === 'round_trip') &&
  ['p50', 'p90', 'p99', 'p999'].includes(statistic) &&
  !when?.versus

/** Parameters of a heatmap in the URL. */
export interface MatrixChoice extends TimeSearch {
  by?: Granularity
  metric?: MatrixMetric
  app?: string
  statistic?: Statistic
  flows?: 'slowest'
  estimates?: boolean
  percent?: boolean
  /** A moment in a step of the playback, where no range is chosen. */
  at?: string
  film?: Film
}

/** Return the values that a heatmap shows: by default changes from usual. */
export function shownOf(search: MatrixChoice): Shown {
  const { by = 'vm', statistic = 'p50', flows } = search
  const when = whenOf(search)
  const metric = metricOf(search, when)
  const choice = { by, metric, statistic, when }
  if (metric !== 'predicted_loss') {
    const shown = { ...choice, app: undefined, slowest: flows === 'slowest' && hasFlows(choice) }
    return search.estimates && hasEstimates(shown) ? { ...shown, estimates: true } : shown
  }
  // An application cannot choose the route of a connection, so the slowest one counts.
  return { ...choice, app: search.app, slowest: hasFlows({ ...choice, metric: 'round_trip' }) }
}

function metricOf({ metric, app }: MatrixChoice, when: When | undefined): MatrixMetric {
  const asked = metric === undefined || (metric === 'predicted_loss' && !app) ? 'deviation' : metric
  // Two ranges are compared with each other: not with usual values, nor by their cost.
  return when?.versus && (asked === 'deviation' || asked === 'predicted_loss') ? 'one_way_delay' : asked
}

const OCTETS = { headers: { Accept: 'application/octet-stream' }, parseAs: 'arrayBuffer' as const }

async function readMatrix(meshId: string, shown: Shown, context: Context & { client: QueryClient }): Promise<Matrix> {
  if (shown.metric !== 'predicted_loss') return readMeasured(meshId, { ...shown, metric: shown.metric }, context)
  const [matrix, sensitivity] = await Promise.all([
    readMeasured(meshId, { ...shown, metric: 'round_trip' }, context),
    context.client.ensureQueryData(sensitivityQuery(shown.app ?? '')),
  ])
  return { ...matrix, codes: lossCodes(matrix.codes, sensitivity.performance) }
}

/** Return the codes of the performance lost at each round trip; `performance` is by round trip, code 1 first. */
export function lossCodes(codes: Uint16Array, performance: readonly number[]): Uint16Array {
  const lost = Uint16Array.from([0, ...performance.map((share) => codeOfValue('predicted_loss', 1 - share))])
  return codes.map((code) => lost[code] ?? 0)
}

type Measured = Omit<Shown, 'metric' | 'app'> & { metric: Exclude<MatrixMetric, 'predicted_loss'> }

async function readMeasured(meshId: string, measured: Measured, context: Context) {
  const { by, metric, statistic, slowest, estimates, when } = measured
  const { signal } = context
  const path = { mesh_id: meshId }
  const range = when && matrixRange(when)
  const query = { by, statistic, ...range }
  const call =
    when?.versus && range && metric !== 'deviation'
      ? client.GET('/v1/meshes/{mesh_id}/comparison', {
          params: {
            path,
            query: {
              ...query,
              metric,
              ...baseOf(range, when.versus),
              difference: when.percent ? ('percent' as const) : ('absolute' as const),
            },
          },
          ...OCTETS,
          signal,
        })
      : client.GET('/v1/meshes/{mesh_id}/matrix', {
          params: {
            path,
            query: { ...query, metric, ...(slowest && { flows: 'slowest' as const }), ...(estimates && { estimates }) },
          },
          ...OCTETS,
          signal,
        })
  const bytes = await responseOrOutput<ArrayBuffer>(call, context, 'arrayBuffer')
  markTime('matrix received')
  return parseMatrix(bytes)
}

/** A matrix with its axes; refetched if their revisions differ. */
export const matrixQuery = (meshId: string, shown: Shown) =>
  queryOptions({
    // A range does not change with every new window.
    queryKey: ['meshes', meshId, shown.when ? 'range' : 'measured', 'matrix', shown],
    queryFn: async (context) => {
      const { client: cache } = context
      let [matrix, roster] = await Promise.all([
        readMatrix(meshId, shown, context),
        cache.ensureQueryData(rosterQuery(meshId)),
      ])
      if (roster.revision !== matrix.revision) {
        roster = await cache.fetchQuery(rosterQuery(meshId))
        if (roster.revision !== matrix.revision) matrix = await readMatrix(meshId, shown, context)
        if (roster.revision !== matrix.revision) throw new Error('The mesh is changing; the next window will fit it.')
      }
      return { matrix, roster, of: shown }
    },
    placeholderData: keepPreviousData,
    refetchInterval: shown.when && isMoving(shown.when) ? 60_000 : false,
    // The past changes only where late data arrive.
    ...(shown.when && !isMoving(shown.when) ? { staleTime: 60_000 } : {}),
    // Two megabytes for a mesh of 1,000 VMs: do not keep every matrix that was shown.
    gcTime: 60_000,
  })

/** Return true for a range longer than an hour, of which each path has a worst hour. */
export const hasWorstHours = (when: When | undefined) => when !== undefined && secondsOf(matrixRange(when)) > 3_600

/** Return true when a matrix has the worst hour of each path. */
export const isOfWorstHours = ({ metric, when }: Pick<Shown, 'metric' | 'when'>) =>
  metric === 'deviation' && hasWorstHours(when)

/** The paths or zone pairs that differ most from their usual delay, now or in a range. */
export const deviationsQuery = (meshId: string, by: Granularity, limit: number, when?: When) =>
  queryOptions({
    queryKey: ['meshes', meshId, when ? 'range' : 'measured', 'deviations', by, limit, when],
    queryFn: () =>
      get('/v1/meshes/{mesh_id}/deviations', {
        path: { mesh_id: meshId },
        query: { by, limit, ...(when && matrixRange(when)) },
      }),
    placeholderData: keepPreviousData,
  })

/** The usual delay of one path or zone pair, and its change, now or in a range. */
export const deviationQuery = (meshId: string, by: Granularity, source: string, target: string, when?: When) =>
  reading(
    ['meshes', meshId, when ? 'range' : 'measured', 'deviation', by, source, target, when],
    '/v1/meshes/{mesh_id}/deviations/{source_id}/{target_id}',
    { path: { mesh_id: meshId, source_id: source, target_id: target }, query: { by, ...(when && matrixRange(when)) } },
  )

export const pathQuery = (meshId: string, source: string, target: string, estimate = false) =>
  reading(
    ['meshes', meshId, 'measured', 'path', source, target, estimate],
    '/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}',
    { path: { mesh_id: meshId, source_vm_id: source, target_vm_id: target }, ...(estimate && { query: { estimate } }) },
  )

/** Return the range of the history of a path. */
export const pathRange = (time: TimeSearch): TimeRange => rangeOf(time, PATH_SPAN)

/** A path over time. A range that moves with the clock is refetched with each window. */
export const seriesQuery = (meshId: string, source: string, target: string, time: TimeSearch, statistic: Statistic) =>
  queryOptions({
    queryKey: ['meshes', meshId, isMoving(time) ? 'measured' : 'range', 'series', source, target, time, statistic],
    queryFn: async () => {
      const range = pathRange(time)
      const series = await get('/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}/series', {
        path: { mesh_id: meshId, source_vm_id: source, target_vm_id: target },
        query: { from: range.from, ...(isMoving(time) ? {} : { to: range.to }), statistic },
      })
      return { ...series, range }
    },
    placeholderData: keepPreviousData,
  })

/** A path from a time on, until another or until now. */
export const seriesSinceQuery = (
  meshId: string,
  source: string,
  target: string,
  from: string,
  to: string | undefined,
  statistic: Statistic,
) =>
  queryOptions({
    queryKey: ['meshes', meshId, 'range', 'series', source, target, from, to, statistic],
    queryFn: () =>
      get('/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}/series', {
        path: { mesh_id: meshId, source_vm_id: source, target_vm_id: target },
        query: { from, ...(to ? { to } : {}), statistic },
      }),
    refetchInterval: to ? false : 10_000,
    placeholderData: keepPreviousData,
  })
