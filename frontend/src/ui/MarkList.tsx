import { Anchor } from '@mantine/core'
import { type Clock, formatMoment, formatRange } from '~/lib/time'
import styles from './marks.module.css'
import { strings } from './strings'

interface Props {
  /** Undefined while they load; times are seconds since 1970. */
  marks: readonly { id: string; label: string; from: number; to: number | null; url?: string | undefined }[] | undefined
  clock: Clock
}

/** The marks of a time axis as a list that opens on demand: for readers without a pointer. Its line is always there. */
export function MarkList({ marks, clock }: Props) {
  if (!marks?.length) return <p className={styles.line}>{marks ? strings.noMarks : ' '}</p>
  return (
    <details className={styles.marks}>
      <summary className={styles.line}>{strings.marks(marks.length)}</summary>
      <ul>
        {marks.map(({ id, label, from, to, url }) => (
          <li key={id}>
            <span className={styles.time}>{timesOf(from, to, clock)}</span>{' '}
            {url ? (
              <Anchor size="xs" underline="always" href={url} target="_blank" rel="noreferrer">
                {label}
              </Anchor>
            ) : (
              label
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** "20 Nov 2026, 23:10:20 – 23:15:00 UTC" */
function timesOf(from: number, to: number | null, clock: Clock): string {
  const start = new Date(from * 1_000)
  return to === null ? formatMoment(start, clock) : formatRange(start, new Date(to * 1_000), clock)
}
