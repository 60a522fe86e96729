/** Mutations, and the cached responses they invalidate. */

import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { inTurn, type Watch } from '~/lib/inTurn'
import { randomKey } from './client'

/**
 * A mutation that invalidates cached responses on success. Each distinct input keeps one idempotency key until it
 * succeeds: pressing the button again after a lost response executes the action only once. `each` runs the action on
 * many inputs in turn and returns the reason of each failure, null where there was none.
 */
export function useAction<Input, Output>(act: (input: Input, key: string) => Promise<Output>, stale: QueryKey[]) {
  const queryClient = useQueryClient()
  const attempt = useRef<{ input: string; key: string } | null>(null)
  const refresh = () => Promise.all(stale.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
  const mutation = useMutation({
    mutationFn: (input: Input) => {
      const written = JSON.stringify(input) ?? ''
      if (attempt.current?.input !== written) attempt.current = { input: written, key: randomKey() }
      return act(input, attempt.current.key)
    },
    onSuccess: () => {
      attempt.current = null
      return refresh()
    },
  })
  const each = async (inputs: readonly Input[], watch: Watch) => {
    const failures = await inTurn(inputs, (input) => act(input, randomKey()), watch)
    await refresh()
    return failures
  }
  return { ...mutation, each }
}

/** A header that makes a request happen once. */
export const once = (key: string) => ({ 'Idempotency-Key': key })
