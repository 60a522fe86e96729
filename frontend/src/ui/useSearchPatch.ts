import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Patch, Raw } from '~/lib/searchParams'

/** Return a function that changes the search of the page in its place; `parse` keeps what is valid. */
export function useSearchPatch<T extends object>(parse: (raw: Raw) => T): (patch: Patch<T>) => void {
  const navigate = useNavigate()
  return useCallback(
    (patch) => {
      const search = (old: object) => parse({ ...old, ...patch })
      void navigate({ to: '.', search: search as never, replace: true, resetScroll: false })
    },
    [navigate, parse],
  )
}
