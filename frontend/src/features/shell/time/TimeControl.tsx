import { ActionIcon, Button, Popover, Tooltip } from '@mantine/core'
import { useMatches } from '@tanstack/react-router'
import { useState } from 'react'
import { isMoving } from '~/lib/spans'
import { useClock } from '~/ui/clock'
import { ClockIcon, EarlierIcon, FollowIcon, LaterIcon, PauseIcon } from '~/ui/icons'
import { useSetTime, useTime } from '~/ui/time'
import { strings } from '../strings'
import { RangePicker } from './RangePicker'
import { rangeName } from './rangeName'
import { follow, type PageTime, pause, shift } from './steps'
import styles from './time.module.css'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page shows measurements of a time that the reader chooses. */
    time?: PageTime
  }
}

/** The time of the page: its range, the one before, the one after, and a pause. Pages without a time have none. */
export function TimeControl() {
  const page = useMatches({ select: (matches) => matches.at(-1)?.staticData.time })
  return page ? <Controls page={page} /> : null
}

function Controls({ page }: { page: PageTime }) {
  const clock = useClock()
  const time = useTime()
  const setTime = useSetTime()
  const [opened, setOpened] = useState(false)
  const moves = isMoving(time)
  const name = rangeName(time, page, clock)
  const step = (label: string, Icon: typeof ClockIcon, onClick: () => void, disabled = false) => (
    <Tooltip label={label}>
      <ActionIcon
        className={styles.step}
        variant="subtle"
        color="gray"
        c="var(--ink-2)"
        size={28}
        aria-label={label}
        aria-disabled={disabled}
        data-disabled={disabled}
        onClick={() => disabled || onClick()}
      >
        <Icon />
      </ActionIcon>
    </Tooltip>
  )
  return (
    <fieldset className={styles.control} aria-label={strings.time}>
      {step(strings.earlier, EarlierIcon, () => setTime(shift(time, page, -1)))}
      <Popover opened={opened} onChange={setOpened} position="bottom-end" trapFocus returnFocus shadow="md">
        <Popover.Target>
          <Button
            className={styles.range}
            variant="default"
            size="compact-sm"
            leftSection={<ClockIcon />}
            aria-label={strings.timeRange(name)}
            onClick={() => setOpened(!opened)}
          >
            <span className={styles.name}>{name}</span>
          </Button>
        </Popover.Target>
        <Popover.Dropdown className={styles.dropdown}>
          <RangePicker page={page} onDone={() => setOpened(false)} />
        </Popover.Dropdown>
      </Popover>
      {step(strings.later, LaterIcon, () => setTime(shift(time, page, 1)), moves)}
      {moves
        ? step(strings.pause, PauseIcon, () => setTime(pause(time, page)))
        : step(strings.follow, FollowIcon, () => setTime(follow(time, page)))}
    </fieldset>
  )
}
