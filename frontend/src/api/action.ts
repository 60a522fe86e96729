/** Mutations, and the cached responses they invalidate. */

import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { randomKey } from './client'

/**
 * A mutation that invalidates cached responses on success. Each distinct input keeps one idempotency key until it
 * succeeds: pressing the button again after a lost response executes the action only once.
 */
export function useAction<Input, Output>(act: (input: Input, key: string) => Promise<Output>, stale: QueryKey[]) {
  const queryClient = useQueryClient()
  const attempt = useRef<{ input: string; key: string } | null>(null)
  return useMutation({
    mutationFn: (input: Input) => {
      const written = JSON.stringify(input) ?? ''
      if (attempt.current?.input !== written) attempt.current = { input: written, key: randomKey() }
      return act(input, attempt.current.key)
    },
    onSuccess: () => {
      attempt.current = null
      return Promise.all(stale.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
    },
  })
}

/** A header that makes a request happen once. */
export const once = (key: string) => ({ 'Idempotency-Key': key })
