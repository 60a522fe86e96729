/** Receivers of notifications, the routes to them, and deliveries. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { get, patch, post, put, remove, tagged } from './client'
import { listing } from './query'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Receiver = Schemas['ReceiverRead']
export type ReceiverKind = Receiver['kind']
export type ReceiverInput = Schemas['ReceiverFields']
export type Route = Schemas['RoutingRead']['root']
export type Delivery = Schemas['DeliveryRead']

export const receiversQuery = listing(['receivers'], '/v1/receivers', { query: { limit: 200 } })

/** The newest hundred; refetched, because the worker sends them. */
export const deliveriesQuery = queryOptions({
  queryKey: ['deliveries'],
  queryFn: async () => (await get('/v1/deliveries', { query: { limit: 100 } })).items,
  refetchInterval: 3_000,
})

/** The newest hundred deliveries of an incident. */
export const incidentDeliveriesQuery = (incidentId: string) =>
  queryOptions({
    queryKey: ['deliveries', incidentId],
    queryFn: async () => {
      const query = { limit: 100, incident_id: incidentId }
      return (await get('/v1/deliveries', { query })).items
    },
    refetchInterval: 10_000,
  })

/** The tree of routes with the version it was read at, which a change must name. */
export const routingQuery = queryOptions({
  queryKey: ['alert-routes'],
  queryFn: async () => {
    const { data, etag } = await tagged('/v1/alert-routes')
    return { root: data.root, etag }
  },
})

export const useCreateReceiver = () =>
  useAction((body: ReceiverInput, key) => post('/v1/receivers', { body, key }), [['receivers']])

export const useChangeReceiver = () =>
  useAction(
    ({
      receiver: { id, version },
      changes,
    }: {
      receiver: Pick<Receiver, 'id' | 'version'>
      changes: Partial<Omit<ReceiverInput, 'kind'>>
    }) => patch('/v1/receivers/{receiver_id}', { path: { receiver_id: id }, body: changes, version }),
    [['receivers'], ['alert-routes'], ['deliveries']],
  )

export const useDeleteReceiver = () =>
  useAction(
    (id: string) => remove('/v1/receivers/{receiver_id}', { path: { receiver_id: id } }),
    [['receivers'], ['deliveries'], ['alert-routes']],
  )

/** Send an ended delivery once more. */
export const useRedeliver = () =>
  useAction(
    (id: string) => post('/v1/deliveries/{delivery_id}/redeliver', { path: { delivery_id: id } }),
    [['deliveries']],
  )

/** Send a test; each call sends one. */
export const useTestReceiver = () =>
  useAction((id: string) => post('/v1/receivers/{receiver_id}/tests', { path: { receiver_id: id } }), [['deliveries']])

export const useWriteRouting = () =>
  useAction(
    ({ root, etag }: { root: Route; etag: string }) => put('/v1/alert-routes', { body: { root }, etag }),
    [['alert-routes']],
  )
