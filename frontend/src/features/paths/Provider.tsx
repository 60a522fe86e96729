import { useQuery } from '@tanstack/react-query'
import { rosterQuery } from '~/api/meshes'
import { classDelaysQuery } from '~/api/pathClasses'
import { useWaiting } from '~/api/waiting'
import { delaysOf } from '~/lib/publishedDelays'
import { ProviderComparison } from '~/ui/ProviderComparison'
import { QueryResult } from '~/ui/QueryResult'
import type { DirectionItem } from './Directions'
import styles from './paths.module.css'
import { strings } from './strings'
import { zonePairOf } from './zones'

interface Props {
  meshId: string
  source: string
  target: string
  /** The delays of the path in the range of the page. */
  outbound: DirectionItem
}

/** The delays of a path over those of paths of the same class, one's own and published ones. */
export function Provider({ meshId, source, target, outbound }: Props) {
  const { data: roster } = useQuery(rosterQuery(meshId))
  const pair = roster && zonePairOf(roster, source, target)
  const options = classDelaysQuery(meshId, pair?.[0].id ?? '', pair?.[1].id ?? '')
  const query = useQuery({ ...options, enabled: pair !== undefined })
  const waiting = useWaiting(options.queryKey)
  const { p50, p99 } = outbound.quantiles_ns
  return (
    <section className={`${styles.newest} ${styles.wide}`} aria-labelledby="provider">
      <h2 id="provider">{strings.provider}</h2>
      <QueryResult query={query} waiting={waiting} what={strings.providerLower}>
        {(found) =>
          found && (
            <ProviderComparison
              provider={found.provider}
              pathClass={found.pathClass}
              own={[
                { name: strings.thisPath, delays: p50 == null || p99 == null ? null : delaysOf([{ p50, p99 }]) },
                { name: strings.sameClass(found.alike?.count ?? 0), delays: found.alike },
              ]}
            />
          )
        }
      </QueryResult>
    </section>
  )
}
