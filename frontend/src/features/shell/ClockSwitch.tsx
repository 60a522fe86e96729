import { Button, Tooltip } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { zoneName } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { strings } from './strings'

/** The time zone of all times on the page. */
export function ClockSwitch() {
  const clock = useClock()
  const navigate = useNavigate()
  const other = clock === 'utc' ? 'local' : 'utc'
  return (
    <Tooltip label={clock === 'utc' ? strings.switchToLocal : strings.switchToUtc}>
      <Button
        variant="subtle"
        color="gray"
        c="var(--ink-2)"
        size="compact-sm"
        onClick={() =>
          void navigate({ to: '.', search: (old) => ({ ...old, tz: other }), replace: true, resetScroll: false })
        }
      >
        {clock === 'utc' ? strings.utc : strings.local(zoneName('local', new Date()))}
      </Button>
    </Tooltip>
  )
}
