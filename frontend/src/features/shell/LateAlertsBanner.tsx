import { serverNow } from '~/api/connection'
import type { Timeliness } from '~/api/timeliness'
import { formatAge, formatMinute } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { Notice } from '~/ui/State'
import { useNow } from '~/ui/useNow'
import styles from './shell.module.css'
import { strings } from './strings'

/** A banner while alert rules are evaluated late or notifications wait, whatever else the page shows. */
export function LateAlertsBanner({ alerts }: { alerts: Timeliness | null | undefined }) {
  const clock = useClock()
  useNow(1_000)
  if (!alerts || (alerts.evaluates && alerts.notifies)) return null
  const since = (at: string) => [formatMinute(new Date(at), clock), formatAge(serverNow() - Date.parse(at))] as const
  const { evaluated_at, waiting_since } = alerts
  return (
    <div className={styles.banner}>
      {!alerts.evaluates && (
        <Notice
          tone="warn"
          title={evaluated_at ? strings.evaluatedLate(...since(evaluated_at)) : strings.neverEvaluated}
        />
      )}
      {!alerts.notifies && waiting_since && (
        <Notice tone="warn" title={strings.notificationsWait(...since(waiting_since))} />
      )}
    </div>
  )
}
