/** Applications, what they keep of their performance, where they could go. */

import { queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'

export const applicationsQuery = queryOptions({
  queryKey: ['applications'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/applications', { params: { query: page(cursor) } }))),
})

export const applicationQuery = (applicationId: string) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'application'],
    queryFn: () =>
      unwrap(client.GET('/v1/applications/{application_id}', { params: { path: { application_id: applicationId } } })),
  })

/** How an application does under the newest round trips, which move on by themselves. */
export const performanceQuery = (applicationId: string) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'performance'],
    queryFn: () =>
      unwrap(
        client.GET('/v1/applications/{application_id}/performance', {
          params: { path: { application_id: applicationId } },
        }),
      ),
    refetchInterval: 10_000,
  })

/** What could be rented or changed for an application. */
export const optionsQuery = (applicationId: string) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'options'],
    queryFn: () =>
      unwrap(
        client.GET('/v1/applications/{application_id}/options', {
          params: { path: { application_id: applicationId } },
        }),
      ),
    retry: false,
  })

export interface ApplicationInput {
  name: string
  mesh: string
  curve: string
  objective: number | null
  tasks: { vm: string; root: boolean }[]
}

const plainTask = { pinned: false, slots: 1, cpu_millicores: 0, memory_mib: 0 }

export const useCreateApplication = () =>
  useAction(
    (input: ApplicationInput, key) =>
      unwrap(
        client.POST('/v1/applications', {
          body: {
            ...input,
            description: '',
            move_cost: 0,
            tasks: input.tasks.map((task) => ({ ...plainTask, ...task })),
          },
          headers: once(key),
        }),
      ),
    [['applications']],
  )

export const useDeleteApplication = () =>
  useAction(
    (applicationId: string) =>
      unwrap(
        client.DELETE('/v1/applications/{application_id}', { params: { path: { application_id: applicationId } } }),
      ),
    [['applications']],
  )
