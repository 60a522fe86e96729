import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { distributionQuery } from '~/api/explore'
import type { Distribution } from '~/api/types'
import { useWaiting } from '~/api/waiting'
import type { TimeSearch } from '~/lib/spans'
import { QueryResult } from '~/ui/QueryResult'
import { Empty } from '~/ui/State'
import { bothWays, directionStyle } from './bothWays'
import styles from './paths.module.css'
import { strings } from './strings'

export type DirectionItem = Distribution['items'][number]

interface Props {
  meshId: string
  source: string
  target: string
  time: TimeSearch
  children: (outbound: DirectionItem, inbound: DirectionItem) => ReactNode
}

/** The delays of both directions of a path in a range, once both have some. */
export function Directions({ meshId, source, target, time, children }: Props) {
  const options = distributionQuery(meshId, bothWays(source, target, time))
  const query = useQuery(options)
  return (
    <QueryResult query={query} waiting={useWaiting(options.queryKey)} what={strings.distributionLower}>
      {({ items: [outbound, inbound] }) =>
        outbound && inbound && outbound.count > 0 && inbound.count > 0 ? (
          children(outbound, inbound)
        ) : (
          <Empty title={strings.noMeasurements}>{strings.chooseLonger}</Empty>
        )
      }
    </QueryResult>
  )
}

/** The names of the directions with their colours. */
export function DirectionKeys({ items }: { items: readonly DirectionItem[] }) {
  return (
    <span className={styles.values}>
      {items.map((item, n) => (
        <span key={item.selection} className={styles.value}>
          <span className={styles.key} style={{ background: directionStyle(n).colour }} />
          {item.title}
        </span>
      ))}
    </span>
  )
}
