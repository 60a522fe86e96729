/** What-if scenarios. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Change } from '~/lib/changes'
import { useAction } from './action'
import { patch, post, remove } from './client'
import { listing } from './query'

export const scenariosQuery = listing(['scenarios'], '/v1/scenarios')

/** The effect of changes on applications; keeps the last result until the next arrives. */
export const whatIfQuery = (mesh: string, changes: Change[], place: boolean, minutes: number | null) =>
  queryOptions({
    queryKey: ['what-if', mesh, changes, place, minutes],
    queryFn: () => post('/v1/what-if', { body: { mesh, changes, place_waiting: place, statistic: 'p50', minutes } }),
    // As often as the performance of an application, so that both show the same windows.
    refetchInterval: minutes === null ? 10_000 : false,
    placeholderData: keepPreviousData,
    retry: false,
  })

export const useKeepScenario = () =>
  useAction(
    (input: { name: string; mesh: string; changes: Change[]; place_waiting: boolean; minutes: number | null }, key) =>
      post('/v1/scenarios', { body: { ...input, statistic: 'p50' }, key }),
    [['scenarios']],
  )

export const useChangeScenario = () =>
  useAction(
    ({
      id,
      version,
      ...body
    }: {
      id: string
      version: number
      changes: Change[]
      place_waiting: boolean
      minutes: number | null
    }) => patch('/v1/scenarios/{scenario_id}', { path: { scenario_id: id }, body, version }),
    [['scenarios']],
  )

export const useDeleteScenario = () =>
  useAction((id: string) => remove('/v1/scenarios/{scenario_id}', { path: { scenario_id: id } }), [['scenarios']])
