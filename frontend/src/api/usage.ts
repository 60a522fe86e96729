/** Quotas, pinned ranges and aged measurements: queries and actions. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { client, everyItem, unwrap } from './client'
import type { components } from './schema.gen'

export type UsageItem = components['schemas']['UsageItem']
export type Pin = components['schemas']['PinRead']
export type PinInput = components['schemas']['PinCreate']

export const usageQuery = queryOptions({
  queryKey: ['usage'],
  queryFn: () => unwrap(client.GET('/v1/usage')),
})

export type AgedTier = components['schemas']['AgedTierRead']
export type Aged = components['schemas']['AgedRead']

export const agedQuery = queryOptions({
  queryKey: ['aged'],
  queryFn: () => unwrap(client.GET('/v1/aged-measurements')),
})

export const pinsQuery = queryOptions({
  queryKey: ['pins'],
  queryFn: () =>
    everyItem((cursor) =>
      unwrap(client.GET('/v1/pins', { params: { query: { limit: 500, ...(cursor ? { cursor } : {}) } } })),
    ),
})

export const usePinRange = () =>
  useAction(
    (body: PinInput, key) => unwrap(client.POST('/v1/pins', { body, headers: { 'Idempotency-Key': key } })),
    [['pins']],
  )

export const useLetRangeGo = () =>
  useAction(
    (pinId: string) => unwrap(client.DELETE('/v1/pins/{pin_id}', { params: { path: { pin_id: pinId } } })),
    [['pins']],
  )
