/** Receivers of notifications, the routes to them, and deliveries. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { client, etagOf, everyItem, unwrap } from './client'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Receiver = Schemas['ReceiverRead']
export type ReceiverKind = Receiver['kind']
export type ReceiverInput = Schemas['ReceiverFields']
export type Route = Schemas['RoutingRead']['root']
export type Delivery = Schemas['DeliveryRead']

export const receiversQuery = queryOptions({
  queryKey: ['receivers'],
  queryFn: () =>
    everyItem((cursor) =>
      unwrap(client.GET('/v1/receivers', { params: { query: { limit: 200, ...(cursor ? { cursor } : {}) } } })),
    ),
})

/** The newest hundred; refetched, because the worker sends them. */
export const deliveriesQuery = queryOptions({
  queryKey: ['deliveries'],
  queryFn: async () => (await unwrap(client.GET('/v1/deliveries', { params: { query: { limit: 100 } } }))).items,
  refetchInterval: 3_000,
})

/** The newest hundred deliveries of an incident. */
export const incidentDeliveriesQuery = (incidentId: string) =>
  queryOptions({
    queryKey: ['deliveries', incidentId],
    queryFn: async () => {
      const query = { limit: 100, incident_id: incidentId }
      return (await unwrap(client.GET('/v1/deliveries', { params: { query } }))).items
    },
    refetchInterval: 10_000,
  })

/** The tree of routes with the version it was read at, which a change must name. */
export const routingQuery = queryOptions({
  queryKey: ['alert-routes'],
  queryFn: async () => {
    const call = await client.GET('/v1/alert-routes')
    const { root } = await unwrap(Promise.resolve(call))
    return { root, etag: etagOf(call.response) }
  },
})

export const useCreateReceiver = () =>
  useAction(
    (body: ReceiverInput, key) => unwrap(client.POST('/v1/receivers', { body, headers: { 'Idempotency-Key': key } })),
    [['receivers']],
  )

export const useChangeReceiver = () =>
  useAction(
    ({
      receiver: { id, version },
      changes,
    }: {
      receiver: Pick<Receiver, 'id' | 'version'>
      changes: Partial<Omit<ReceiverInput, 'kind'>>
    }) =>
      unwrap(
        client.PATCH('/v1/receivers/{receiver_id}', {
          params: { path: { receiver_id: id } },
          body: changes,
          headers: { 'If-Match': `"${version}"` },
        }),
      ),
    [['receivers'], ['alert-routes'], ['deliveries']],
  )

export const useDeleteReceiver = () =>
  useAction(
    (id: string) => unwrap(client.DELETE('/v1/receivers/{receiver_id}', { params: { path: { receiver_id: id } } })),
    [['receivers'], ['deliveries'], ['alert-routes']],
  )

/** Send an ended delivery once more. */
export const useRedeliver = () =>
  useAction(
    (id: string) =>
      unwrap(client.POST('/v1/deliveries/{delivery_id}/redeliver', { params: { path: { delivery_id: id } } })),
    [['deliveries']],
  )

/** Send a test; each call sends one. */
export const useTestReceiver = () =>
  useAction(
    (id: string) => unwrap(client.POST('/v1/receivers/{receiver_id}/tests', { params: { path: { receiver_id: id } } })),
    [['deliveries']],
  )

export const useWriteRouting = () =>
  useAction(
    ({ root, etag }: { root: Route; etag: string }) =>
      unwrap(client.PUT('/v1/alert-routes', { body: { root }, headers: { 'If-Match': etag } })),
    [['alert-routes']],
  )
