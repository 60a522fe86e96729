/** What can be done: mutations, and which answers they make old. */

import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import type { Change } from '~/lib/changes'
import { client, randomKey, unwrap } from './client'
import type { MetricSourceInput, RecommendationInput } from './types'

/**
 * A mutation whose success makes some answers old. Each distinct input keeps one idempotency key until it succeeds:
 * pressing the button again after a lost answer does the thing once.
 */
export function useAction<Input, Output>(act: (input: Input, key: string) => Promise<Output>, stale: QueryKey[]) {
  const queryClient = useQueryClient()
  const attempt = useRef<{ input: string; key: string } | null>(null)
  return useMutation({
    mutationFn: (input: Input) => {
      const written = JSON.stringify(input) ?? ''
      if (attempt.current?.input !== written) attempt.current = { input: written, key: randomKey() }
      return act(input, attempt.current.key)
    },
    onSuccess: () => {
      attempt.current = null
      return Promise.all(stale.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
    },
  })
}

const once = (key: string) => ({ 'Idempotency-Key': key })

export const signIn = (email: string, password: string) =>
  unwrap(client.POST('/v1/auth/sign-in', { body: { email, password } }))

export const signOut = () => unwrap(client.POST('/v1/auth/sign-out'))

export interface MeshInput {
  name: string
  window_s: number
  rate_hz: 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128
}

export const useCreateMesh = () =>
  useAction(
    (body: MeshInput, key) => unwrap(client.POST('/v1/meshes', { body: { ...body, flows: 1 }, headers: once(key) })),
    [['meshes']],
  )

export const useUpdateMesh = (meshId: string, etag: string) =>
  useAction(
    (body: MeshInput) =>
      unwrap(
        client.PATCH('/v1/meshes/{mesh_id}', {
          params: { path: { mesh_id: meshId } },
          body,
          headers: { 'If-Match': etag },
        }),
      ),
    [['meshes']],
  )

export const useDeleteMesh = () =>
  useAction(
    (meshId: string) => unwrap(client.DELETE('/v1/meshes/{mesh_id}', { params: { path: { mesh_id: meshId } } })),
    [['meshes']],
  )

export const useAddVm = (meshId: string) =>
  useAction(
    (vmId: string) =>
      unwrap(client.PUT('/v1/meshes/{mesh_id}/vms/{vm_id}', { params: { path: { mesh_id: meshId, vm_id: vmId } } })),
    [['meshes']],
  )

export const useRemoveVm = (meshId: string) =>
  useAction(
    (vmId: string) =>
      unwrap(client.DELETE('/v1/meshes/{mesh_id}/vms/{vm_id}', { params: { path: { mesh_id: meshId, vm_id: vmId } } })),
    [['meshes']],
  )

export interface TokenInput {
  mesh_id: string
  expires_in_s: number
  max_uses: number
}

export const useCreateToken = () =>
  useAction(
    (body: TokenInput, key) => unwrap(client.POST('/v1/enrolment-tokens', { body, headers: once(key) })),
    [['enrolment-tokens']],
  )

export const useRevokeAgent = () =>
  useAction(
    (agentId: string, key) =>
      unwrap(
        client.POST('/v1/agents/{agent_id}/revoke', { params: { path: { agent_id: agentId } }, headers: once(key) }),
      ),
    [['agents'], ['vms'], ['meshes']],
  )

export interface MasterInput {
  name: string
  zone_id: string
  probe_address: string
}

/** A machine without an agent, on which an IEEE 1588 master answers at the ports of the standard. */
export const useAddMaster = () =>
  useAction(
    (body: MasterInput, key) =>
      unwrap(
        client.POST('/v1/vms', {
          body: { ...body, responder: 'ieee1588', event_port: 319, general_port: 320 },
          headers: once(key),
        }),
      ),
    [['vms']],
  )

export const useDeleteVm = () =>
  useAction(
    (vmId: string) => unwrap(client.DELETE('/v1/vms/{vm_id}', { params: { path: { vm_id: vmId } } })),
    [['agents'], ['vms'], ['meshes']],
  )

export interface ZoneInput {
  provider: string
  region: string
  name: string
  physical_id: string | null
}

export const useCreateZone = () =>
  useAction((body: ZoneInput, key) => unwrap(client.POST('/v1/zones', { body, headers: once(key) })), [['zones']])

export const useDeleteZone = () =>
  useAction(
    (zoneId: string) => unwrap(client.DELETE('/v1/zones/{zone_id}', { params: { path: { zone_id: zoneId } } })),
    [['zones']],
  )

export interface ApiKeyInput {
  name: string
  scopes: ('read' | 'write')[]
  expires_at: string
}

export const useCreateApiKey = () =>
  useAction(
    (body: ApiKeyInput, key) => unwrap(client.POST('/v1/api-keys', { body, headers: once(key) })),
    [['api-keys']],
  )

export const useDeleteApiKey = () =>
  useAction(
    (apiKeyId: string) =>
      unwrap(client.DELETE('/v1/api-keys/{api_key_id}', { params: { path: { api_key_id: apiKeyId } } })),
    [['api-keys']],
  )

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

// What a file's header says wins over these; the contract wants them all the same.
const measured = { metric: 'rate', latency: 'added' } as const

export const useCreateCurve = () =>
  useAction(
    (body: CurveInput, key) =>
      unwrap(client.POST('/v1/curves', { body: { ...measured, ...body }, headers: once(key) })),
    [['curves']],
  )

export const useCreateCurveVersion = (curveId: string) =>
  useAction(
    (body: MeasurementsInput, key) =>
      unwrap(
        client.POST('/v1/curves/{curve_id}/versions', {
          params: { path: { curve_id: curveId } },
          body: { ...measured, ...body },
          headers: once(key),
        }),
      ),
    [['curves']],
  )

export const useDeleteCurve = () =>
  useAction(
    (curveId: string) => unwrap(client.DELETE('/v1/curves/{curve_id}', { params: { path: { curve_id: curveId } } })),
    [['curves']],
  )

export interface CurveWords {
  name: string
  description: string
  unit: string
}

export const useUpdateCurve = (curveId: string, etag: string) =>
  useAction(
    (body: CurveWords) =>
      unwrap(
        client.PATCH('/v1/curves/{curve_id}', {
          params: { path: { curve_id: curveId } },
          body,
          headers: { 'If-Match': etag },
        }),
      ),
    [['curves']],
  )

export const useCreateMetricSource = () =>
  useAction(
    (body: MetricSourceInput, key) => unwrap(client.POST('/v1/metric-sources', { body, headers: once(key) })),
    [['metric-sources']],
  )

export const useJudgeMetricSource = () =>
  useAction(
    (sourceId: string, key) =>
      unwrap(
        client.POST('/v1/metric-sources/{metric_source_id}/findings', {
          params: { path: { metric_source_id: sourceId } },
          headers: once(key),
        }),
      ),
    [['metric-sources'], ['curves']],
  )

export const usePauseMetricSource = () =>
  useAction(
    ({ id, paused }: { id: string; paused: boolean }) =>
      unwrap(
        client.PATCH('/v1/metric-sources/{metric_source_id}', {
          params: { path: { metric_source_id: id } },
          body: { paused },
          headers: { 'If-Match': '*' },
        }),
      ),
    [['metric-sources']],
  )

export const useDeleteMetricSource = () =>
  useAction(
    (sourceId: string) =>
      unwrap(
        client.DELETE('/v1/metric-sources/{metric_source_id}', { params: { path: { metric_source_id: sourceId } } }),
      ),
    [['metric-sources']],
  )

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

export type QuestionInput = Pick<RecommendationInput, 'mesh' | 'policy' | 'objective' | 'moves_max' | 'minutes'>

export const useAskForMoves = () =>
  useAction(
    (input: QuestionInput, key) =>
      unwrap(
        client.POST('/v1/recommendations', {
          body: { ...input, statistic: 'p50', risk: 'cvar' },
          headers: once(key),
        }),
      ),
    [['jobs']],
  )

export const useKeepScenario = () =>
  useAction(
    (input: { name: string; mesh: string; changes: Change[]; place_waiting: boolean }, key) =>
      unwrap(
        client.POST('/v1/scenarios', {
          body: { ...input, statistic: 'p50', minutes: 30 },
          headers: once(key),
        }),
      ),
    [['scenarios']],
  )

export const useChangeScenario = () =>
  useAction(
    ({ id, version, ...body }: { id: string; version: number; changes: Change[]; place_waiting: boolean }) =>
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

export const useDeleteSimulation = () =>
  useAction(
    (id: string) =>
      unwrap(client.DELETE('/v1/simulations/{simulation_id}', { params: { path: { simulation_id: id } } })),
    [['simulations']],
  )

const DECISIONS = {
  accept: '/v1/recommendations/{recommendation_id}/accept',
  apply: '/v1/recommendations/{recommendation_id}/apply',
} as const

export const useDecide = (recommendationId: string, etag: string) =>
  useAction(
    (decision: keyof typeof DECISIONS) =>
      unwrap(
        client.POST(DECISIONS[decision], {
          params: { path: { recommendation_id: recommendationId } },
          headers: { 'If-Match': etag },
        }),
      ),
    [['recommendations'], ['applications']],
  )

export const useDismiss = (recommendationId: string, etag: string) =>
  useAction(
    (reason: string) =>
      unwrap(
        client.POST('/v1/recommendations/{recommendation_id}/dismiss', {
          params: { path: { recommendation_id: recommendationId } },
          body: { reason },
          headers: { 'If-Match': etag },
        }),
      ),
    [['recommendations']],
  )
