import { useSearch } from '@tanstack/react-router'
import type { Clock } from '~/lib/time'

/** Return the time zone of displayed times, from the address. */
export function useClock(): Clock {
  const search = useSearch({ strict: false })
  return search.tz === 'utc' ? 'utc' : 'local'
}
