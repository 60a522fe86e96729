import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { parseMoment, typedMoment } from '~/lib/moments'
import { isMoving, NOW, rangeOf, SPAN_OPTIONS, type TimeSearch, VERSUS, VERSUS_OPTIONS, type Versus } from '~/lib/spans'
import { typedZone } from '~/lib/time'
import { CopyButton } from '~/ui/CopyButton'
import { useClock } from '~/ui/clock'
import { useSetTime, useTime } from '~/ui/time'
import { strings } from '../strings'
import { follow, type PageTime, pause, shift, zoomOut } from './steps'
import styles from './time.module.css'

/** Choices of the time of a page: the newest windows, a span up to now, or a start and an end. */
export function RangePicker({ page, onDone }: { page: PageTime; onDone: () => void }) {
  const time = useTime()
  const setTime = useSetTime()
  const versus: TimeSearch = time.versus ? { versus: time.versus } : {}

  function choose(next: TimeSearch) {
    setTime(next)
    onDone()
  }

  /** Return the address with its range fixed: everyone who opens it sees the same measurements, later too. */
  function frozenAddress() {
    const address = new URL(location.href)
    for (const name of Object.keys(NOW)) address.searchParams.delete(name)
    for (const [name, value] of Object.entries(pause(time, page))) address.searchParams.set(name, value)
    return address.href
  }

  const isChosen = (span: string) => isMoving(time) && (time.span ?? (page.isLive ? '' : page.span)) === span
  return (
    <div className={styles.picker}>
      <ul className={styles.spans} aria-label={strings.spans}>
        {page.isLive && (
          <li>
            <Choice pressed={isChosen('') && !time.versus} onClick={() => choose({})}>
              {strings.newestWindows}
            </Choice>
          </li>
        )}
        {SPAN_OPTIONS.map(({ value, label }) => (
          <li key={value}>
            <Choice pressed={isChosen(value)} onClick={() => choose({ ...versus, span: value })}>
              {label}
            </Choice>
          </li>
        ))}
      </ul>
      <div className={styles.exact}>
        <ExactRange time={time} page={page} onChoose={(range) => choose({ ...versus, ...range })} />
        {page.compares && (
          <NativeSelect
            label={strings.compareWith}
            size="xs"
            data={[
              { value: '', label: strings.noComparison },
              ...VERSUS_OPTIONS.map(({ value, label }) => ({ value, label })),
            ]}
            value={time.versus ?? ''}
            onChange={({ currentTarget: { value } }) => {
              const { versus: _, ...range } = time
              setTime(value in VERSUS ? { ...range, versus: value as Versus } : range)
            }}
          />
        )}
        <div className={styles.buttons}>
          <div className={styles.narrow}>
            <Step onClick={() => setTime(shift(time, page, -1))}>{strings.earlier}</Step>
            <Step disabled={isMoving(time)} onClick={() => setTime(shift(time, page, 1))}>
              {strings.later}
            </Step>
            {isMoving(time) ? (
              <Step onClick={() => setTime(pause(time, page))}>{strings.pause}</Step>
            ) : (
              <Step onClick={() => setTime(follow(time, page))}>{strings.follow}</Step>
            )}
          </div>
          <Step onClick={() => setTime(zoomOut(time, page))}>{strings.zoomOut}</Step>
          <CopyButton text={frozenAddress} size="xs">
            {strings.copyLink}
          </CopyButton>
        </div>
        <p className={styles.hint}>{strings.dragHint}</p>
      </div>
    </div>
  )
}

function Choice({ pressed, onClick, children }: { pressed: boolean; onClick: () => void; children: string }) {
  return (
    <button type="button" className={styles.choice} aria-pressed={pressed} onClick={onClick}>
      {children}
    </button>
  )
}

function Step(props: { onClick: () => void; disabled?: boolean; children: string }) {
  return <Button size="xs" variant="default" {...props} />
}

interface ExactRangeProps {
  time: TimeSearch
  page: PageTime
  onChoose: (range: TimeSearch) => void
}

/** A start and an end to type. "now" as the end makes a range that grows. */
function ExactRange({ time, page, onChoose }: ExactRangeProps) {
  const clock = useClock()
  const [shown] = useState(() => {
    const range = rangeOf(time, page.span)
    return { from: Date.parse(range.from), to: time.until ? Date.parse(range.to) : undefined }
  })
  const typed = {
    from: typedMoment(shown.from, clock),
    to: shown.to === undefined ? 'now' : typedMoment(shown.to, clock),
  }
  const [texts, setTexts] = useState(typed)
  const [errors, setErrors] = useState<{ from?: string; to?: string }>({})

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    // What stays as it was means the same moment, with its fractions of a second.
    const moment = (part: 'from' | 'to') =>
      texts[part] === typed[part] && shown[part] !== undefined ? shown[part] : parseMoment(texts[part], clock)
    const [start, end] = [moment('from'), moment('to')]
    const found = {
      ...(start === undefined && { from: strings.notATime }),
      ...(end === undefined && { to: strings.notATime }),
      ...(start !== undefined && start > Date.now() && { from: strings.startsInFuture }),
      ...(start !== undefined && end !== undefined && start >= end && { from: strings.startsTooLate }),
    }
    setErrors(found)
    if (start === undefined || end === undefined || Object.keys(found).length > 0) return
    const isOpen = texts.to.trim().toLowerCase() === 'now'
    onChoose({ from: new Date(start).toISOString(), ...(isOpen ? {} : { until: new Date(end).toISOString() }) })
  }

  const field = (part: 'from' | 'to', label: string) => (
    <TextInput
      size="xs"
      label={label}
      value={texts[part]}
      error={errors[part]}
      onChange={({ currentTarget: { value } }) => setTexts((old) => ({ ...old, [part]: value }))}
    />
  )
  return (
    <form onSubmit={submit} className={styles.form}>
      {field('from', strings.fromIn(typedZone(clock)))}
      {field('to', strings.untilIn(typedZone(clock)))}
      <p className={styles.hint}>{strings.timeFormats}</p>
      <Button type="submit" size="xs">
        {strings.showRange}
      </Button>
    </form>
  )
}
