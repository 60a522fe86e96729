import { Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type LivePhase, useLivePhase } from '~/api/live'
import { timelinessQuery } from '~/api/timeliness'
import { useConnection } from '~/lib/connection'
import { type Status, StatusMark } from '~/ui/StatusMark'
import styles from './shell.module.css'
import { strings } from './strings'

const PHASES: Record<Exclude<LivePhase, 'off'>, { status: Status; word: string; about: string }> = {
  live: { status: 'good', word: strings.live, about: strings.liveHint },
  connecting: { status: 'waiting', word: strings.connecting, about: strings.connectingHint },
  polling: {
    status: 'warn',
    word: strings.polling,
    about: strings.pollingHint,
  },
}

const LATE = { status: 'warn', word: strings.liveAlertsLate, about: strings.liveAlertsLateHint } as const

/** The state of the live stream. Pages without measurements have no mark. */
export function LiveMark() {
  const phase = useLivePhase()
  const { away } = useConnection()
  const { data: alerts } = useQuery(timelinessQuery)
  if (away) {
    return (
      <span className={styles.live} role="status">
        <StatusMark status="warn">{strings.noConnection}</StatusMark>
      </span>
    )
  }
  if (phase === 'off') return null
  // New windows appear, but nobody looks at them: green would say that all is well.
  const isLate = phase === 'live' && alerts?.evaluates === false
  const { status, word, about } = isLate ? LATE : PHASES[phase]
  return (
    <Tooltip label={about}>
      <span className={styles.live} role="status">
        <StatusMark status={status}>{word}</StatusMark>
      </span>
    </Tooltip>
  )
}
