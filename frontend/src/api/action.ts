/** Mutations, and the cached responses they invalidate. */

import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { inTurn, type Watch } from '~/lib/inTurn'
import { Problem } from '~/lib/problem'
import { randomKey } from './client'

interface Handlers<Output> {
  onSuccess?: (output: Output) => void
  onError?: (error: Error) => void
}

interface Call<Input, Output> extends Handlers<Output> {
  input: Input
}

/**
 * A mutation that invalidates cached responses on success. Each distinct input keeps one idempotency key until it
 * succeeds: pressing the button again after a lost response executes the action only once. `each` runs the action on
 * many inputs in turn and returns the reason of each failure, null where there was none.
 *
 * `onSuccess` of a call comes before the fresh responses: they can remove the component that called, and what the
 * server shows only once (a recovery code) would be lost with it.
 */
export function useAction<Input, Output>(act: (input: Input, key: string) => Promise<Output>, stale: QueryKey[]) {
  const queryClient = useQueryClient()
  const attempt = useRef<{ input: string; key: string } | null>(null)
  const present = usePresent()
  const refresh = () => Promise.all(stale.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
  const mutation = useMutation({
    mutationFn: ({ input }: Call<Input, Output>) => {
      const written = JSON.stringify(input) ?? ''
      if (attempt.current?.input !== written) attempt.current = { input: written, key: randomKey() }
      return act(input, attempt.current.key)
    },
    onSuccess: (output, { onSuccess }) => {
      attempt.current = null
      if (present.current) onSuccess?.(output)
      return refresh()
    },
    onError: (error, { onError }) => {
      // Someone else has changed the object: show what it is now.
      if (error instanceof Problem && error.status === 412) void refresh()
      if (present.current) onError?.(error)
    },
  })
  const mutate = (input: Input, handlers?: Handlers<Output>) => mutation.mutate({ input, ...handlers })
  const each = async (inputs: readonly Input[], watch: Watch) => {
    const failures = await inTurn(inputs, (input) => act(input, randomKey()), watch)
    await refresh()
    return failures
  }
  return { ...mutation, variables: mutation.variables?.input, mutate, each }
}

/** Tell whether the component is still on the page: nobody is led away from the page they went to meanwhile. */
function usePresent() {
  const present = useRef(false)
  useEffect(() => {
    present.current = true
    return () => {
      present.current = false
    }
  }, [])
  return present
}
