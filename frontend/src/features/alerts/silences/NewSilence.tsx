import { Button, Checkbox, Group, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type SilenceFromNow, useCreateSilence, usePreviewSilence } from '~/api/silences'
import { Problem } from '~/lib/problem'
import { formatCount } from '~/lib/units'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { NumberField } from '~/ui/NumberField'
import { pageStyles } from '~/ui/Page'
import { ActionError, Notice } from '~/ui/State'
import { IncidentList } from '../IncidentList'
import { MatcherFields, type TypedMatcher } from '../MatcherFields'
import { strings } from '../strings'
import { minuteOfDay, WEEKDAYS } from './silenceWords'

const LASTS = {
  1: strings.oneHour,
  4: strings.fourHours,
  24: strings.oneDay,
  168: strings.oneWeek,
  720: strings.thirtyDays,
  8760: strings.oneYear,
}

const FIRST: TypedMatcher[] = [{ id: 0, label: 'mesh', value: '', negate: false }]

/** Create a silence that starts now, after a preview of the incidents it matches. */
export function NewSilence({ onDone }: { onDone: () => void }) {
  const create = useCreateSilence()
  const preview = usePreviewSilence()
  const [matchers, setMatchers] = useState(FIRST)
  const [weekly, setWeekly] = useState(false)
  // The window keeps this local hour when clocks change.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const failed = create.error ?? preview.error
  const wrong = (pointer: string) => (failed instanceof Problem ? failed.field(pointer) : undefined)

  function inputOf(form: FormData): SilenceFromNow {
    return {
      comment: String(form.get('comment')).trim(),
      matchers: matchers.map(({ label, value, negate }) => ({ label, value: value.trim(), negate })),
      hours: Number(form.get('hours')),
      weekly: weekly
        ? {
            weekday: Number(form.get('weekday')),
            minute: minuteOfDay(String(form.get('time'))),
            lasts_min: Number(form.get('lasts_min')),
            time_zone: zone,
          }
        : null,
    }
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const input = inputOf(new FormData(event.currentTarget))
    // Both buttons send the form, so that the browser checks its fields for both.
    const { submitter } = event.nativeEvent as SubmitEvent
    create.reset()
    preview.reset()
    if (submitter?.getAttribute('value') === 'preview') {
      preview.mutate(input)
      return
    }
    create.mutate(input, { onSuccess: onDone })
  }

  return (
    <>
      <form className={pageStyles.panelForm} onSubmit={submit}>
        <MatcherFields
          matchers={matchers}
          onChange={(changed) => {
            setMatchers(changed)
            preview.reset()
          }}
          wrong={wrong}
        />
        <div className={pageStyles.form}>
          <TextInput
            name="comment"
            label={strings.reason}
            placeholder={strings.reasonExample}
            required
            withAsterisk={false}
            {...longest(1000)}
            error={wrong('comment')}
            w={320}
          />
          <Choice name="hours" label={strings.endsIn} data={LASTS} defaultValue="4" error={wrong('ends_at')} w={120} />
          <Checkbox
            label={strings.repeatWeekly}
            checked={weekly}
            onChange={(event) => setWeekly(event.currentTarget.checked)}
            mb={8}
          />
          {weekly && (
            <>
              <Choice
                name="weekday"
                label={strings.weekday}
                data={WEEKDAYS.map((label, day) => ({ value: String(day), label }))}
                w={140}
              />
              <TextInput
                name="time"
                type="time"
                label={strings.startTime(zone)}
                required
                withAsterisk={false}
                defaultValue="02:00"
              />
              <NumberField
                name="lasts_min"
                label={strings.durationMinutes}
                min={1}
                max={10_080}
                required
                withAsterisk={false}
                defaultValue={120}
                error={wrong('weekly/lasts_min')}
                w={110}
              />
            </>
          )}
        </div>
        <Group gap="xs">
          <Button type="submit" name="do" value="create" size="sm" loading={create.isPending}>
            {strings.createSilence}
          </Button>
          <Button type="submit" name="do" value="preview" size="sm" variant="default" loading={preview.isPending}>
            {strings.previewMatches}
          </Button>
        </Group>
        <ActionError error={failed} />
      </form>
      {preview.data && (
        <>
          <Notice tone="info">
            {preview.data.incidents.length === 0
              ? strings.noMatch
              : strings.matchCount(
                  formatCount(preview.data.incidents.length),
                  preview.data.incidents.length === 1 ? strings.incidentNoun : strings.incidentsNoun,
                )}
          </Notice>
          {preview.data.notes.map((note) => (
            <Notice key={note} tone="warn">
              {note}
            </Notice>
          ))}
          {preview.data.incidents.length > 0 && (
            <IncidentList label={strings.matchingIncidents} incidents={preview.data.incidents} />
          )}
        </>
      )}
    </>
  )
}
