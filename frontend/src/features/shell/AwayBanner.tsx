import { useConnection } from '~/lib/connection'
import { formatAge } from '~/lib/time'
import { Notice } from '~/ui/State'
import { useNow } from '~/ui/useNow'
import styles from './shell.module.css'
import { strings } from './strings'

/** A banner while the backend does not respond; it disappears by itself. */
export function AwayBanner() {
  const { away, since } = useConnection()
  const now = useNow(1_000)
  if (!away) return null
  return (
    <div className={styles.banner}>
      <Notice tone="warn" title={strings.backendAway}>
        {strings.backendAwayLead(formatAge(now - since))}
      </Notice>
    </div>
  )
}
