import { Button, Group, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { usePinRange } from '~/api/usage'
import type { TimeRange } from '~/lib/spans'
import { formatMoment } from '~/lib/time'
import { longest } from '~/ui/CheckedInput'
import { useClock } from '~/ui/clock'
import { Dialog } from '~/ui/Dialog'
import { ActionError, Notice } from '~/ui/State'
import { strings } from './strings'

/** Pin the range on the screen: measurements of the whole mesh are kept beyond retention. */
export function PinRange({ meshId, range: rangeNow }: { meshId: string; range: () => TimeRange }) {
  const clock = useClock()
  const keep = usePinRange()
  const [range, setRange] = useState<TimeRange | null>(null)

  function open() {
    keep.reset()
    setRange(rangeNow())
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const reason = String(new FormData(event.currentTarget).get('reason') ?? '').trim()
    if (range && reason) keep.mutate({ mesh_id: meshId, reason, started_at: range.from, ended_at: range.to })
  }

  const moment = (at: string) => formatMoment(new Date(at), clock)
  return (
    <>
      <Button variant="default" onClick={open}>
        {strings.pinRange}
      </Button>
      <Dialog title={strings.pinRange} opened={range !== null} onClose={() => setRange(null)}>
        {keep.isSuccess ? (
          <Notice tone="good" title={strings.pinned}>
            {strings.pinnedWhere} <Link to="/usage">{strings.usage}</Link>
            {strings.pinnedWhereEnd}
          </Notice>
        ) : (
          range && (
            <form onSubmit={submit}>
              <p>{strings.pinEffect(moment(range.from), moment(range.to))}</p>
              <TextInput
                name="reason"
                label={strings.reason}
                placeholder={strings.reasonExample}
                {...longest(500)}
                required
                mt="sm"
                data-autofocus
              />
              <ActionError error={keep.error} />
              <Group justify="end" mt="md">
                <Button variant="default" onClick={() => setRange(null)}>
                  {strings.cancel}
                </Button>
                <Button type="submit" loading={keep.isPending}>
                  {strings.pin}
                </Button>
              </Group>
            </form>
          )
        )}
      </Dialog>
    </>
  )
}
