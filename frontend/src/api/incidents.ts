/** Incidents: queries and actions. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { get, post, put, tagged } from './client'
import type { components } from './schema.gen'

export type IncidentSummary = components['schemas']['IncidentSummary']
export type Incident = components['schemas']['IncidentRead']
export type Impact = components['schemas']['ImpactRead']
export type SignedEvidence = components['schemas']['SignedEvidence']
export type IncidentState = Incident['state']

/** Refetch interval: the worker opens and ends incidents. */
const REFRESH_MS = 5_000

/** The newest hundred; older ones are in the API. */
export const incidentsQuery = (meshId: string | undefined, states: IncidentState[]) =>
  queryOptions({
    queryKey: ['incidents', { meshId, states }],
    queryFn: async () => {
      const query = { limit: 100, state: states, ...(meshId ? { mesh_id: meshId } : {}) }
      return (await get('/v1/incidents', { query })).items
    },
    refetchInterval: REFRESH_MS,
  })

/** Unresolved incidents of all meshes. A window in the background keeps counting them: their number is in its title. */
export const openIncidentsQuery = queryOptions({
  ...incidentsQuery(undefined, ['open', 'acknowledged']),
  refetchInterval: 15_000,
  refetchIntervalInBackground: true,
})

/** An incident with the version it was read at, which a change must name. */
export const incidentQuery = (incidentId: string) =>
  queryOptions({
    queryKey: ['incidents', incidentId],
    queryFn: async () => {
      const { data, etag } = await tagged('/v1/incidents/{incident_id}', { path: { incident_id: incidentId } })
      return { incident: data, etag }
    },
    refetchInterval: REFRESH_MS,
  })

/** The signed evidence of an incident; read once, so that what is printed is what is copied. */
export const evidenceQuery = (incidentId: string) =>
  queryOptions({
    queryKey: ['evidence', incidentId],
    queryFn: () => get('/v1/incidents/{incident_id}/evidence', { path: { incident_id: incidentId } }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })

const DECISIONS = {
  acknowledge: '/v1/incidents/{incident_id}/acknowledge',
  resolve: '/v1/incidents/{incident_id}/resolve',
  reopen: '/v1/incidents/{incident_id}/reopen',
} as const
export type IncidentDecision = keyof typeof DECISIONS

const decide = (decision: IncidentDecision, incidentId: string, etag: string) =>
  post(DECISIONS[decision], { path: { incident_id: incidentId }, body: { text: '' }, etag })

export const useDecideIncident = (incidentId: string, etag: string) =>
  useAction((decision: IncidentDecision) => decide(decision, incidentId, etag), [['incidents']])

/** One decision on incidents of a list. Every window raises the version of a firing one, so any version is taken. */
export const useDecideIncidents = (decision: IncidentDecision) =>
  useAction((incidentId: string) => decide(decision, incidentId, '*'), [['incidents']])

export const useAssignIncident = (incidentId: string, etag: string) =>
  useAction(
    (assignee: string | null) =>
      put('/v1/incidents/{incident_id}/assignees', { path: { incident_id: incidentId }, body: { assignee }, etag }),
    [['incidents']],
  )

export const useNoteIncident = (incidentId: string) =>
  useAction(
    (text: string, key) =>
      post('/v1/incidents/{incident_id}/notes', { path: { incident_id: incidentId }, body: { text }, key }),
    [['incidents']],
  )
