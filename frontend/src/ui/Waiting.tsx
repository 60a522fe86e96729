import { Button, Progress } from '@mantine/core'
import { ActionError } from './State'
import { strings } from './strings'
import styles from './waiting.module.css'

interface Props {
  what: string
  waited: { queued: boolean; progress: number | null; cancel: () => void; cancelling: boolean; error: Error | null }
}

/** How far the job is that will answer, and a way to end it. */
export function Waiting({ what, waited }: Props) {
  const percent = waited.progress === null ? null : Math.round(waited.progress * 100)
  return (
    <section className={styles.waiting} aria-label={strings.waitingFor(what)}>
      <p role="status">
        {strings.longRunning(
          waited.queued
            ? strings.jobQueued
            : `${percent === null ? strings.jobRunning : strings.percentDone(percent)}.`,
        )}
      </p>
      {percent !== null && <Progress value={percent} aria-label={strings.progressOf(what)} w={260} />}
      <Button variant="default" size="compact-sm" disabled={waited.cancelling} onClick={waited.cancel}>
        {strings.cancel}
      </Button>
      <ActionError error={waited.error} />
    </section>
  )
}
