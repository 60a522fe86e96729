import { type Clock, formatAge, formatMoment } from '~/lib/time'
import { strings } from './strings'
import { useNow } from './useNow'

/** The age of a time; hovering shows the time itself. */
export function Age({ at, clock, now }: { at: string | null | undefined; clock: Clock; now: () => number }) {
  const time = useNow(1_000, now)
  if (!at) return <>{strings.never}</>
  const date = new Date(at)
  return (
    <time dateTime={at} title={formatMoment(date, clock)}>
      {strings.ago(formatAge(time - date.getTime()))}
    </time>
  )
}
