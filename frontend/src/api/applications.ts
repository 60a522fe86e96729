/** Applications, their performance, and options to improve it. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { client, get, patch, post, put, remove } from './client'
import { responseOrOutput } from './jobs'
import { listing, reading } from './query'
import type { Application, ApplicationUpdate, Options } from './types'

export const applicationsQuery = listing(['applications'], '/v1/applications')

export const applicationQuery = (applicationId: string) =>
  reading(['applications', applicationId, 'application'], '/v1/applications/{application_id}', {
    path: { application_id: applicationId },
  })

/** The account of an application's contract; it changes with its terms. */
export const contractQuery = ({ id, kept_share, version }: Application) =>
  queryOptions({
    queryKey: ['applications', id, 'contract', version],
    queryFn: () => get('/v1/applications/{application_id}/contract', { path: { application_id: id } }),
    enabled: kept_share != null,
    refetchInterval: 60_000,
  })

/** The accounts of all contracts over a month, or the last thirty days. */
export const contractsQuery = (month?: string) =>
  reading(['applications', 'contracts', month], '/v1/contracts', { query: month ? { month } : {} })

/** The performance of an application under the newest round trips, refetched as they change. */
export const performanceQuery = (applicationId: string) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'performance'],
    queryFn: () => get('/v1/applications/{application_id}/performance', { path: { application_id: applicationId } }),
    refetchInterval: 10_000,
  })

/** The performance of a link of an application by its round trip: it changes only with the application. */
export const sensitivityQuery = (applicationId: string) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'sensitivity'],
    queryFn: () => get('/v1/applications/{application_id}/sensitivity', { path: { application_id: applicationId } }),
    staleTime: 60_000,
  })

/** The applications with links over a path, costliest first. */
export const pathApplicationsQuery = (meshId: string, source: string, target: string) =>
  queryOptions({
    queryKey: ['applications', 'path', meshId, source, target],
    queryFn: () =>
      get('/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}/applications', {
        path: { mesh_id: meshId, source_vm_id: source, target_vm_id: target },
      }),
    refetchInterval: 10_000,
  })

/** The application that each of some paths ("path:A:B") or zone pairs ("zones:A:B") costs most. */
export const pathCostsQuery = (meshId: string, selections: readonly string[]) =>
  queryOptions({
    queryKey: ['applications', 'costs', meshId, selections],
    queryFn: async () => {
      const asked = { path: { mesh_id: meshId }, query: { selections: [...selections] } }
      const { items } = await get('/v1/meshes/{mesh_id}/path-costs', asked)
      return new Map(items.map(({ selection, worst }) => [selection, worst]))
    },
    enabled: selections.length > 0,
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  })

/** Applications that the traffic of a mesh suggests; a window of counted connections has 30 s. */
export const trafficQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['applications', 'traffic', meshId],
    queryFn: () => get('/v1/meshes/{mesh_id}/traffic-proposals', { path: { mesh_id: meshId } }),
    enabled: meshId !== '',
    refetchInterval: 30_000,
  })

/** Options for an application: VMs to rent, recreate or swap. */
export const optionsQuery = (applicationId: string) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'options'],
    queryFn: (context) =>
      responseOrOutput<Options>(
        client.GET('/v1/applications/{application_id}/options', {
          params: { path: { application_id: applicationId } },
          signal: context.signal,
        }),
        context,
      ),
    retry: false,
  })

/** Places for a number of new VMs of an application, and its idle VMs. For 0 VMs it sends no request. */
export const nextVmsQuery = (applicationId: string, vms: number, price: number | undefined) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'next-vms', vms, price],
    queryFn: () =>
      get('/v1/applications/{application_id}/next-vms', {
        path: { application_id: applicationId },
        query: { vms, ...(price !== undefined && { price_per_hour: price }) },
      }),
    enabled: vms > 0,
    placeholderData: keepPreviousData,
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
      post('/v1/applications', {
        body: {
          ...input,
          description: '',
          move_cost: 0.01,
          leaves_region: false,
          moves_for_others: false,
          tasks: input.tasks.map((task) => ({ ...plainTask, ...task })),
        },
        key,
      }),
    [['applications']],
  )

/** Declare proposals from traffic as one application; with `tasks`, these and not those of the traffic. */
export const useAcceptProposals = (meshId: string) =>
  useAction(
    (
      {
        tasks,
        ...input
      }: Omit<ApplicationInput, 'tasks' | 'mesh'> & { proposals: string[]; tasks?: ApplicationInput['tasks'] },
      key,
    ) =>
      post('/v1/meshes/{mesh_id}/traffic-proposals', {
        path: { mesh_id: meshId },
        body: { ...input, ...(tasks && { tasks: tasks.map((task) => ({ ...plainTask, ...task })) }) },
        key,
      }),
    [['applications']],
  )

export const useDismissProposal = (meshId: string) =>
  useAction(
    ({ key, dismissed }: { key: string; dismissed: boolean }) =>
      put('/v1/meshes/{mesh_id}/traffic-proposals/{proposal_key}', {
        path: { mesh_id: meshId, proposal_key: key },
        body: { dismissed },
      }),
    [['applications', 'traffic', meshId]],
  )

export const useUpdateApplication = (applicationId: string) =>
  useAction(
    (asked: { body: ApplicationUpdate; version: number }) =>
      patch('/v1/applications/{application_id}', { path: { application_id: applicationId }, ...asked }),
    [['applications']],
  )

export const useDeleteApplication = () =>
  useAction(
    (applicationId: string) => remove('/v1/applications/{application_id}', { path: { application_id: applicationId } }),
    [['applications']],
  )
