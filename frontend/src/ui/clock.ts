import { useSearch } from '@tanstack/react-router'
import type { Clock } from '~/lib/time'

/** The zone times are written in, as the address says. */
export function useClock(): Clock {
  const search = useSearch({ strict: false })
  return search.tz === 'utc' ? 'utc' : 'local'
}
