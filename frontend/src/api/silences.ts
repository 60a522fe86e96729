/** Silences: what nobody is told of, and what one would have muted. */

import { queryOptions } from '@tanstack/react-query'
import { useAction } from './actions'
import { client, unwrap } from './client'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Silence = Schemas['SilenceRead']
export type SilenceInput = Schemas['SilenceCreate']
export type Matcher = Schemas['Matcher']

/** The hundred that end last; whether one is in force follows the clock. */
export const silencesQuery = queryOptions({
  queryKey: ['silences'],
  queryFn: async () => (await unwrap(client.GET('/v1/silences', { params: { query: { limit: 100 } } }))).items,
  refetchInterval: 30_000,
})

export const useCreateSilence = () =>
  useAction(
    (body: SilenceInput, key) => unwrap(client.POST('/v1/silences', { body, headers: { 'Idempotency-Key': key } })),
    [['silences'], ['incidents']],
  )

export const usePreviewSilence = () =>
  useAction((body: SilenceInput) => unwrap(client.POST('/v1/silence-previews', { body })), [])

export const useEndSilence = () =>
  useAction(
    (id: string) => unwrap(client.DELETE('/v1/silences/{silence_id}', { params: { path: { silence_id: id } } })),
    [['silences'], ['incidents']],
  )
