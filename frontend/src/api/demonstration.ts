/** The demonstration that `make up` plays. */

import { queryOptions } from '@tanstack/react-query'
import { get } from './client'

const WHILE_PLAYING_MS = 5_000
const WITHOUT_MS = 60_000

export const demonstrationQuery = queryOptions({
  queryKey: ['demonstration'],
  queryFn: () => get('/v1/demonstration'),
  refetchInterval: (query) => (query.state.data?.playing ? WHILE_PLAYING_MS : WITHOUT_MS),
  retry: false,
})
