/** Silences, and previews of the incidents one matches. */

import { queryOptions } from '@tanstack/react-query'
import { useRef } from 'react'
import { useAction } from './action'
import { get, post, remove } from './client'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Silence = Schemas['SilenceRead']
export type SilenceInput = Schemas['SilenceCreate']
/** A silence that starts now and ends after a number of hours. */
export type SilenceFromNow = Omit<SilenceInput, 'ends_at'> & { hours: number }
export type Matcher = Schemas['Matcher']

/** The hundred that end last; the clock decides which are active. */
export const silencesQuery = queryOptions({
  queryKey: ['silences'],
  queryFn: async () => (await get('/v1/silences', { query: { limit: 100 } })).items,
  refetchInterval: 30_000,
})

const HOUR_MS = 3_600_000
const lasting = ({ hours, ...silence }: SilenceFromNow, fromMs: number): SilenceInput => ({
  ...silence,
  ends_at: new Date(fromMs + hours * HOUR_MS).toISOString(),
})

/** Create a silence. A repeat after a lost response sends the same end time, counted from the first press. */
export function useCreateSilence() {
  const pressed = useRef<{ key: string; atMs: number } | null>(null)
  return useAction(
    (input: SilenceFromNow, key) => {
      if (pressed.current?.key !== key) pressed.current = { key, atMs: Date.now() }
      const body = lasting(input, pressed.current.atMs)
      return post('/v1/silences', { body, key })
    },
    [['silences'], ['incidents']],
  )
}

export const usePreviewSilence = () =>
  useAction((input: SilenceFromNow) => post('/v1/silence-previews', { body: lasting(input, Date.now()) }), [])

export const useEndSilence = () =>
  useAction(
    (id: string) => remove('/v1/silences/{silence_id}', { path: { silence_id: id } }),
    [['silences'], ['incidents']],
  )
