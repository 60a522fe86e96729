import { Tooltip } from '@mantine/core'
import { useConnection } from '~/api/connection'
import { type LivePhase, useLivePhase } from '~/api/live'
import { type Status, StatusMark } from '~/ui/StatusMark'
import styles from './shell.module.css'

const PHASES: Record<Exclude<LivePhase, 'off'>, { status: Status; word: string; about: string }> = {
  live: { status: 'good', word: 'Live', about: 'New windows appear as they arrive.' },
  connecting: { status: 'waiting', word: 'Connecting', about: 'Asking for new windows as they arrive.' },
  polling: {
    status: 'warn',
    word: 'Polling',
    about: 'The live stream is interrupted: asking once per window instead.',
  },
}

/** Whether the page follows the measurements. Pages that show none have no mark. */
export function LiveMark() {
  const phase = useLivePhase()
  const { away } = useConnection()
  if (away) {
    return (
      <span className={styles.live} role="status">
        <StatusMark status="warn">No connection</StatusMark>
      </span>
    )
  }
  if (phase === 'off') return null
  const { status, word, about } = PHASES[phase]
  return (
    <Tooltip label={about}>
      <span className={styles.live} role="status">
        <StatusMark status={status}>{word}</StatusMark>
      </span>
    </Tooltip>
  )
}
