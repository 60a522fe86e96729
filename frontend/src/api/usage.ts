/** Quotas, pinned ranges and aged measurements: queries and actions. */

import { useAction } from './action'
import { post, remove } from './client'
import { listing, reading } from './query'
import type { components } from './schema.gen'

export type UsageItem = components['schemas']['UsageItem']
export type Pin = components['schemas']['PinRead']
export type PinInput = components['schemas']['PinCreate']

export const usageQuery = reading(['usage'], '/v1/usage')

export type AgedTier = components['schemas']['AgedTierRead']

export const agedQuery = reading(['aged'], '/v1/aged-measurements')

export const pinsQuery = listing(['pins'], '/v1/pins', { query: { limit: 500 } })

export const usePinRange = () => useAction((body: PinInput, key) => post('/v1/pins', { body, key }), [['pins']])

export const useLetRangeGo = () =>
  useAction((pinId: string) => remove('/v1/pins/{pin_id}', { path: { pin_id: pinId } }), [['pins']])
