/** Performance curves and their versions. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Granularity } from '~/lib/dimensions'
import { useAction } from './action'
import { get, patch, post, remove, tagged } from './client'
import { listing } from './query'

export const curvesQuery = listing(['curves'], '/v1/curves')

const numbered = (number: number | undefined) => (number ? { number } : {})

/** A curve at one of its versions, with the tag a change must name (none for published ones). */
export const curveQuery = (curveId: string, number?: number) =>
  queryOptions({
    queryKey: ['curves', curveId, 'curve', number],
    queryFn: async () => {
      const { data, etag } = await tagged('/v1/curves/{curve_id}', {
        path: { curve_id: curveId },
        query: numbered(number),
      })
      return { curve: data, etag }
    },
    placeholderData: keepPreviousData,
  })

export const curveVersionsQuery = (curveId: string) =>
  listing(['curves', curveId, 'versions'], '/v1/curves/{curve_id}/versions', { path: { curve_id: curveId } })

export const curvePointsQuery = (curveId: string, number: number, stepUs: number) =>
  queryOptions({
    queryKey: ['curves', curveId, 'points', number, stepUs],
    queryFn: () =>
      get('/v1/curves/{curve_id}/points', { path: { curve_id: curveId }, query: { step_us: stepUs, number } }),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Added latency, the version of a curve, and the measured pair it is added to. */
export interface CostChoice {
  added?: number
  number?: number
  reference?: number
  waiting?: 'rounds' | 'requests'
  mesh?: string
  by?: Granularity
  source?: string
  target?: string
}

/** The cost of `added` latency: from zero, and in addition to the measured latency where the search names a pair. */
export const curveCostQuery = (
  curveId: string,
  { added = 0, number, reference, waiting, mesh, by, source, target }: CostChoice,
) => {
  const pair =
    !mesh || !source || !target
      ? {}
      : by === 'zone'
        ? { mesh_id: mesh, source_zone_id: source, target_zone_id: target }
        : { mesh_id: mesh, source_vm_id: source, target_vm_id: target }
  const counted = {
    ...(reference === undefined ? {} : { reference_us: reference }),
    ...(waiting === undefined ? {} : { waiting }),
  }
  const query = { added_us: added, ...numbered(number), ...counted, ...pair }
  return queryOptions({
    queryKey: ['curves', curveId, 'cost', query],
    queryFn: () => get('/v1/curves/{curve_id}/cost', { path: { curve_id: curveId }, query }),
    placeholderData: keepPreviousData,
    // Measurements change without an action of the user.
    refetchInterval: mesh ? 10_000 : false,
  })
}

export interface MeasurementsInput {
  csv: string
  source: string
  baseline: number | null
}

export interface CurveInput extends MeasurementsInput {
  name: string
  description: string
  unit: string
}

// The header of a file overrides these values, but the API requires them.
const measured = { metric: 'rate', latency: 'added' } as const

export const useCreateCurve = () =>
  useAction((body: CurveInput, key) => post('/v1/curves', { body: { ...measured, ...body }, key }), [['curves']])

export const useCreateCurveVersion = (curveId: string) =>
  useAction(
    (body: MeasurementsInput, key) =>
      post('/v1/curves/{curve_id}/versions', { path: { curve_id: curveId }, body: { ...measured, ...body }, key }),
    [['curves']],
  )

export const useDeleteCurve = () =>
  useAction((curveId: string) => remove('/v1/curves/{curve_id}', { path: { curve_id: curveId } }), [['curves']])

export interface CurveWords {
  name: string
  description: string
  unit: string
}

export const useUpdateCurve = (curveId: string, etag: string) =>
  useAction(
    (body: Partial<CurveWords>) => patch('/v1/curves/{curve_id}', { path: { curve_id: curveId }, body, etag }),
    [['curves']],
  )
