import { Button } from '@mantine/core'
import type { Granularity } from '~/lib/dimensions'
import { formatCount } from '~/lib/units'
import type { Matches } from './matches'
import styles from './matrix.module.css'
import { strings } from './strings'

interface Props {
  by: Granularity
  find: string
  matches: Matches
  onAll: () => void
}

/** The number of VMs or zones that are shown of all, and the way back to all. */
export function MatchCount({ by, find, matches: { shown, of, isFound }, onAll }: Props) {
  return (
    <div className={styles.matches} role="status">
      {isFound
        ? strings.matchCount(formatCount(shown), formatCount(of), by, find)
        : strings.noMatch(find, formatCount(of), by)}
      <Button variant="default" size="compact-xs" onClick={onAll}>
        {strings.showAll}
      </Button>
    </div>
  )
}
