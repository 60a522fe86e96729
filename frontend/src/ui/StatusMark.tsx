import styles from './status.module.css'

export type Status = 'good' | 'waiting' | 'warn' | 'ended'

const COLOURS: Record<Status, string> = {
  good: 'var(--good)',
  waiting: 'var(--ink-3)',
  warn: 'var(--warn)',
  ended: 'var(--ink-3)',
}

/** A status shown by shape, word and colour: full, hollow, triangle, crossed. */
export function StatusMark({ status, children }: { status: Status; children: string }) {
  const colour = COLOURS[status]
  return (
    <span className={styles.status}>
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true" fill="none" stroke={colour} strokeWidth="1.5">
        {status === 'good' && <circle cx="5" cy="5" r="4.2" fill={colour} />}
        {status === 'waiting' && <circle cx="5" cy="5" r="3.8" strokeDasharray="2.4 1.6" />}
        {status === 'warn' && <path d="M5 1 9.3 9H.7Z" fill={colour} />}
        {status === 'ended' && <path d="m1.5 1.5 7 7m0-7-7 7" />}
      </svg>
      {children}
    </span>
  )
}
