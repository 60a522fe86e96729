import { useQuery } from '@tanstack/react-query'
import { ownTenantsQuery } from '~/api/members'
import { formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { WordLink } from '~/ui/links'
import { Notice } from '~/ui/State'
import styles from './shell.module.css'
import { strings } from './strings'

/** A banner while the deletion of the tenant is ahead. */
export function DeletionBanner() {
  const { data } = useQuery(ownTenantsQuery)
  const clock = useClock()
  const tenant = data?.items.find(({ is_current }) => is_current)
  if (!tenant?.deletion_at) return null
  const at = new Date(tenant.deletion_at)
  return (
    <div className={styles.banner}>
      <Notice tone="warn" title={strings.deletionOf(tenant.name, formatMoment(at, clock))}>
        <WordLink to="/tenant">{strings.tenantSettings}</WordLink>
      </Notice>
    </div>
  )
}
