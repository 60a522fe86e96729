/** Whether the tenant's alerts are in time. */

import { queryOptions } from '@tanstack/react-query'
import { aboutQuery } from './access'
import type { components } from './schema.gen'

export type Timeliness = components['schemas']['AlertTimeliness']

const REFRESH_MS = 15_000

export const timelinessQuery = queryOptions({
  ...aboutQuery,
  refetchInterval: REFRESH_MS,
  select: ({ alerts }) => alerts,
})
