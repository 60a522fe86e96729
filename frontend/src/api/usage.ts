/** Quotas, pinned ranges and aged measurements: queries and actions. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { everyItem, get, post, remove } from './client'
import type { components } from './schema.gen'

export type UsageItem = components['schemas']['UsageItem']
export type Pin = components['schemas']['PinRead']
export type PinInput = components['schemas']['PinCreate']

export const usageQuery = queryOptions({
  queryKey: ['usage'],
  queryFn: () => get('/v1/usage'),
})

export type AgedTier = components['schemas']['AgedTierRead']

export const agedQuery = queryOptions({
  queryKey: ['aged'],
  queryFn: () => get('/v1/aged-measurements'),
})

export const pinsQuery = queryOptions({
  queryKey: ['pins'],
  queryFn: () => everyItem('/v1/pins', { query: { limit: 500 } }),
})

export const usePinRange = () => useAction((body: PinInput, key) => post('/v1/pins', { body, key }), [['pins']])

export const useLetRangeGo = () =>
  useAction((pinId: string) => remove('/v1/pins/{pin_id}', { path: { pin_id: pinId } }), [['pins']])
