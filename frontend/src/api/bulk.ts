/** The bulk sender: trials of transports. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { get, post } from './client'
import { reading } from './query'
import type { TransportTrialInput } from './types'

const RUNNING_MS = 1000
const LISTED_MS = 3000
/** The last windows of the mesh arrive after the run. */
const SETTLING_MS = 5000
const OVER = ['completed', 'stopped', 'failed']

export const bulkSendersQuery = (meshId: string) =>
  reading(['meshes', meshId, 'bulk-senders'], '/v1/meshes/{mesh_id}/bulk-senders', { path: { mesh_id: meshId } })

/** The newest runs of a mesh, again and again while one is not over. */
export const bulkRunsQuery = (meshId: string) =>
  queryOptions({
    queryKey: ['bulk-runs', 'of', meshId],
    queryFn: () => get('/v1/bulk-runs', { query: { mesh_id: meshId, limit: 500 } }).then(({ items }) => items),
    refetchInterval: ({ state: { data } }) => (data?.some(({ status }) => !OVER.includes(status)) ? LISTED_MS : false),
  })

/** One run, again and again until it is over and the delays measured meanwhile are there. */
export const bulkRunQuery = (runId: string) =>
  queryOptions({
    queryKey: ['bulk-runs', runId],
    queryFn: () => get('/v1/bulk-runs/{run_id}', { path: { run_id: runId } }),
    refetchInterval: ({ state: { data } }) => {
      if (!data || !OVER.includes(data.status)) return RUNNING_MS
      const isRecent = Date.now() - Date.parse(data.ends_at) < 0
      return isRecent && data.disturbance.some((path) => path.during_p50_us === null) ? SETTLING_MS : false
    },
  })

export const useStartTrial = () =>
  useAction((body: TransportTrialInput, key) => post('/v1/transport-trials', { body, key }), [['bulk-runs']])

export const useStopBulkRun = () =>
  useAction((runId: string) => post('/v1/bulk-runs/{run_id}/stop', { path: { run_id: runId } }), [['bulk-runs']])
