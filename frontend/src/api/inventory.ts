/** Zones, VMs and the agents on them. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { PAGE_ROWS } from '~/lib/paging'
import { Problem } from '~/lib/problem'
import { isMoving, rangeOf, type Span, type TimeSearch } from '~/lib/spans'
import { useAction } from './action'
import { everyItem, get, patch, post, put, remove } from './client'
import { listing, reading } from './query'
import type {
  CapacityInput,
  TokenBucketInput,
  TokenInput,
  VmClocks,
  VmHostWaits,
  VmTraffic,
  VmUpdate,
  ZoneInput,
} from './types'

export const zonesQuery = listing(['zones'], '/v1/zones')

export const vmsQuery = listing(['vms'], '/v1/vms')

/** The first page of the list: shown until all are loaded. */
export const firstVmsQuery = queryOptions({
  queryKey: ['vms', 'first'],
  queryFn: async () => (await get('/v1/vms', { query: { limit: PAGE_ROWS } })).items,
})

export const revokedAgentsQuery = listing(['agents', 'revoked'], '/v1/agents', { query: { revoked: true } })

export const agentsQuery = listing(['agents'], '/v1/agents')

export const vmQuery = (vmId: string) => reading(['vms', vmId], '/v1/vms/{vm_id}', { path: { vm_id: vmId } })

/** The paths from and to a VM in each of its meshes, worst first. */
export const vmPathsQuery = (vmId: string) =>
  queryOptions({
    queryKey: ['vms', vmId, 'paths'],
    queryFn: () => get('/v1/vms/{vm_id}/paths', { path: { vm_id: vmId } }),
    refetchInterval: 30_000,
  })

/** The length of the range of a VM's page that names none. */
export const VM_SPAN = '1h'

/** Return queries of a VM over time; of a time that moves, newer data are read every `everyMs`. */
const vmHistory =
  <T extends object>(url: `/v1/vms/{vm_id}/${'clock-errors' | 'traffic' | 'host-waits'}`, everyMs: number) =>
  (vmId: string, { versus: _, ...time }: TimeSearch, span: Span = VM_SPAN) =>
    queryOptions({
      queryKey: ['vms', vmId, url, time, span],
      queryFn: async () => {
        const range = rangeOf(time, span)
        const query = { from: range.from, ...(isMoving(time) ? {} : { to: range.to }) }
        const history = (await get(url, { path: { vm_id: vmId }, query })) as unknown as T
        return { ...history, range }
      },
      refetchInterval: isMoving(time) ? everyMs : false,
      placeholderData: keepPreviousData,
    })

/** The clock errors of a VM over time in each of its meshes. */
export const vmClocksQuery = vmHistory<VmClocks>('/v1/vms/{vm_id}/clock-errors', 30_000)

/** The traffic of a VM over time, by the counters of its agent. */
export const vmTrafficQuery = vmHistory<VmTraffic>('/v1/vms/{vm_id}/traffic', 10_000)

/** The waits on a VM itself over time, by the timestamps and counters of its agent. `span` is that of a page without one. */
export const vmHostWaitsQuery = vmHistory<VmHostWaits>('/v1/vms/{vm_id}/host-waits', 10_000)

/** The capacity of a VM: what recommendations may place on it. */
export const capacityQuery = (vmId: string) =>
  reading(['vms', vmId, 'capacity'], '/v1/vms/{vm_id}/capacity', { path: { vm_id: vmId } })

export const useUpdateCapacity = (vmId: string) =>
  useAction(
    ({ version, ...body }: CapacityInput & { version: string }) =>
      patch('/v1/vms/{vm_id}/capacity', { path: { vm_id: vmId }, body, version }),
    [['vms', vmId, 'capacity']],
  )

/** The token bucket of a VM with its forecast; null if none is set. */
export const tokenBucketQuery = (vmId: string) =>
  queryOptions({
    queryKey: ['vms', vmId, 'token-bucket'],
    queryFn: async () => {
      try {
        return await get('/v1/vms/{vm_id}/token-bucket', { path: { vm_id: vmId } })
      } catch (error) {
        if (error instanceof Problem && error.code === 'token_bucket_unknown') return null
        throw error
      }
    },
    refetchInterval: 10_000,
  })

/** The token buckets of all VMs. */
export const tokenBucketsQuery = queryOptions({
  queryKey: ['vms', 'token-buckets'],
  queryFn: () => everyItem('/v1/token-buckets'),
  refetchInterval: 10_000,
})

export const useSetTokenBucket = (vmId: string) =>
  useAction(
    ({ version, ...body }: TokenBucketInput & { version: string }) =>
      put('/v1/vms/{vm_id}/token-bucket', { path: { vm_id: vmId }, body, version }),
    [['vms']],
  )

export const useDeleteTokenBucket = (vmId: string) =>
  useAction((version: string) => remove('/v1/vms/{vm_id}/token-bucket', { path: { vm_id: vmId }, version }), [['vms']])

export const agentQuery = (agentId: string) =>
  reading(['agents', agentId], '/v1/agents/{agent_id}', { path: { agent_id: agentId } })

/** The newest events of an agent; older ones are in the API. */
export const agentEventsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'events'],
    queryFn: async () => {
      const options = { path: { agent_id: agentId }, query: { limit: 50 } }
      return (await get('/v1/agents/{agent_id}/events', options)).items
    },
  })

export const useCreateToken = () =>
  useAction((body: TokenInput, key) => post('/v1/enrolment-tokens', { body, key }), [['enrolment-tokens']])

export const useRevokeAgent = () =>
  useAction(
    (agentId: string, key) => post('/v1/agents/{agent_id}/revoke', { path: { agent_id: agentId }, key }),
    [['agents'], ['vms'], ['meshes']],
  )

export interface MasterInput {
  name: string
  zone_id: string
  probe_address: string
  responder: 'ieee1588' | 'sptp'
  ptp_domain: number
}

/** A machine without an agent, with an IEEE 1588 master at the ports of the standard. */
export const useAddMaster = () =>
  useAction(
    (body: MasterInput, key) => post('/v1/vms', { body: { ...body, event_port: 319, general_port: 320 }, key }),
    [['vms']],
  )

export const useUpdateVm = (vmId: string, version: string) =>
  useAction(
    (body: VmUpdate) => patch('/v1/vms/{vm_id}', { path: { vm_id: vmId }, body, version }),
    [['vms'], ['meshes']],
  )

export const useDeleteVm = () =>
  useAction((vmId: string) => remove('/v1/vms/{vm_id}', { path: { vm_id: vmId } }), [['agents'], ['vms'], ['meshes']])

export const useCreateZone = () => useAction((body: ZoneInput, key) => post('/v1/zones', { body, key }), [['zones']])

export const useDeleteZone = () =>
  useAction((zoneId: string) => remove('/v1/zones/{zone_id}', { path: { zone_id: zoneId } }), [['zones']])
