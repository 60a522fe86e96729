import { Button, Progress } from '@mantine/core'
import { ActionError } from './State'
import styles from './waiting.module.css'

interface Props {
  what: string
  waited: { queued: boolean; progress: number | null; cancel: () => void; cancelling: boolean; error: Error | null }
}

/** How far the job is that will answer, and a way to end it. */
export function Waiting({ what, waited }: Props) {
  const percent = waited.progress === null ? null : Math.round(waited.progress * 100)
  return (
    <section className={styles.waiting} aria-label={`Waiting for ${what}`}>
      <p role="status">
        This takes longer than a page waits for, so a job does it:{' '}
        {waited.queued ? 'it waits for its turn.' : `${percent === null ? 'it runs' : `${percent} % done`}.`}
      </p>
      {percent !== null && <Progress value={percent} aria-label={`Progress of ${what}`} w={260} />}
      <Button variant="default" size="compact-sm" disabled={waited.cancelling} onClick={waited.cancel}>
        Cancel
      </Button>
      <ActionError error={waited.error} />
    </section>
  )
}
