import { Button, Progress } from '@mantine/core'
import { ActionError } from './State'
import { strings } from './strings'
import styles from './waiting.module.css'

interface Props {
  what: string
  waiting: {
    queued: boolean
    progress: number | null
    cancel: (() => void) | null
    cancelling: boolean
    error: Error | null
  }
}

/** Show the progress of the job that computes the response, with a button that cancels it. */
export function Waiting({ what, waiting }: Props) {
  const percent = waiting.progress === null ? null : Math.round(waiting.progress * 100)
  return (
    <section className={styles.waiting} aria-label={strings.waitingFor(what)}>
      <p role="status">
        {strings.longRunning(
          waiting.queued
            ? strings.jobQueued
            : `${percent === null ? strings.jobRunning : strings.percentDone(percent)}.`,
        )}
      </p>
      {percent !== null && <Progress value={percent} aria-label={strings.progressOf(what)} w={260} />}
      {waiting.cancel && (
        <Button variant="default" size="compact-sm" disabled={waiting.cancelling} onClick={waiting.cancel}>
          {waiting.cancelling ? strings.cancelling : strings.cancel}
        </Button>
      )}
      <ActionError error={waiting.error} />
    </section>
  )
}
