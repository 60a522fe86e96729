import { useQueryClient } from '@tanstack/react-query'
import { useConnection } from '~/lib/connection'
import { formatAge } from '~/lib/time'
import { useNow } from '~/ui/useNow'
import { strings } from '../strings'
import styles from './kiosk.module.css'

/** Pages for wall screens ask again at least once a minute. */
const OLD_MS = 150_000

/** The age of the newest answer on a wall screen; large and in red once it is old, since no one reloads a wall screen. */
export function Freshness() {
  const cache = useQueryClient().getQueryCache()
  const { away, since } = useConnection()
  const now = useNow(1_000)
  const newest = Math.max(0, ...cache.findAll({ type: 'active' }).map(({ state }) => state.dataUpdatedAt))
  if (newest === 0) return null
  const age = now - newest
  const isOld = away || age > OLD_MS
  return (
    <p className={styles.freshness} data-old={isOld || undefined} role={isOld ? 'alert' : undefined}>
      {isOld
        ? strings.oldOnWall(formatAge(away ? Math.max(age, now - since) : age))
        : strings.freshOnWall(formatAge(age))}
    </p>
  )
}
