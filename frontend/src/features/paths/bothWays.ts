/** The two directions of a path as selections of a range. */

import type { ExploreParameters } from '~/api/explore'
import { PATH_SPAN } from '~/api/measurements'
import type { TimeSearch } from '~/lib/spans'

/** Return the parameters of queries about both directions of a path: outbound first. */
export const bothWays = (source: string, target: string, time: TimeSearch): ExploreParameters => ({
  selections: [`path:${source}:${target}`, `path:${target}:${source}`],
  // The history of a path is shorter than the ranges of the explore page.
  time: { span: PATH_SPAN, ...time },
  metric: 'one_way_delay',
  statistic: 'p50',
  by: 'vm',
  interval: '1h',
})

const DIRECTIONS = [{ colour: 'var(--outbound)' }, { colour: 'var(--inbound)', dash: '7 4' }]

/** Return the colour and dashes of a direction: 0 is outbound. */
export const directionStyle = (n: number) => DIRECTIONS[n % DIRECTIONS.length] as (typeof DIRECTIONS)[number]
