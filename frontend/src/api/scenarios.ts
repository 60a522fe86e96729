/** What-if scenarios. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Change } from '~/lib/changes'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'

export const scenariosQuery = queryOptions({
  queryKey: ['scenarios'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/scenarios', { params: { query: page(cursor) } }))),
})

/** The effect of changes on applications; keeps the last result until the next arrives. */
export const whatIfQuery = (mesh: string, changes: Change[], place: boolean, minutes: number | null) =>
  queryOptions({
    queryKey: ['what-if', mesh, changes, place, minutes],
    queryFn: () =>
      unwrap(
        client.POST('/v1/what-if', {
          body: { mesh, changes, place_waiting: place, statistic: 'p50', minutes },
        }),
      ),
    // As often as the performance of an application, so that both show the same windows.
    refetchInterval: minutes === null ? 10_000 : false,
    placeholderData: keepPreviousData,
    retry: false,
  })

export const useKeepScenario = () =>
  useAction(
    (input: { name: string; mesh: string; changes: Change[]; place_waiting: boolean; minutes: number | null }, key) =>
      unwrap(
        client.POST('/v1/scenarios', {
          body: { ...input, statistic: 'p50' },
          headers: once(key),
        }),
      ),
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
    }) =>
      unwrap(
        client.PATCH('/v1/scenarios/{scenario_id}', {
          params: { path: { scenario_id: id } },
          body,
          headers: { 'If-Match': `"${version}"` },
        }),
      ),
    [['scenarios']],
  )

export const useDeleteScenario = () =>
  useAction(
    (id: string) => unwrap(client.DELETE('/v1/scenarios/{scenario_id}', { params: { path: { scenario_id: id } } })),
    [['scenarios']],
  )
