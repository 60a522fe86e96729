import { ActionIcon, Button, SegmentedControl } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay, IconPlayerSkipBack, IconPlayerSkipForward } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useMemo, useState } from 'react'
import { useAnnotationMarks } from '~/api/annotations'
import { serverNow } from '~/api/connection'
import { incidentsQuery } from '~/api/incidents'
import { matrixQuery, type Shown, type When } from '~/api/measurements'
import { endOf, FILMS, type Film as FilmRange, stepRange, type Track } from '~/lib/film'
import { facts } from '~/lib/metrics'
import { type Clock, formatMinute, formatRange } from '~/lib/time'
import { Choice } from '~/ui/Choice'
import { useClock } from '~/ui/clock'
import { codingOf } from '../useMatrix'
import styles from './film.module.css'
import { strings } from './strings'
import { type FilmMark, TrackMarks } from './TrackMarks'
import type { FilmState } from './useFilm'

interface Props {
  meshId: string
  /** The matrix on the screen: other steps are of the same metric. */
  shown: Shown
  film: FilmState
}

/** Steps a second. */
const SPEEDS = [1, 2, 4] as const
/** Steps that are loaded before they are shown. */
const AHEAD = 3
const INCIDENTS_MS = 30_000

const RANGES = (Object.keys(FILMS) as FilmRange[]).map((value) => ({ value, label: value.replace('h', ' h') }))

/** "20 Nov 2026, 23:10 – 23:11 UTC" */
export function stepWords(end: number, step_ms: number, clock: Clock): string {
  const [from, to] = [new Date(end - step_ms), new Date(end)]
  return formatRange(from, to, clock, formatMinute)
}

/** Play, step through and scrub the last hours of the heatmap, with incidents and annotations on the track. */
export function Film({ meshId, shown, film }: Props) {
  const clock = useClock()
  const { track, index, isPlaying } = film
  const [speed, setSpeed] = useState<number>(2)
  const marks = useMarks(meshId, track)
  const failed = usePlayback(meshId, shown, film, speed)
  const end = index === null ? null : endOf(track, index)
  const time = end === null ? (shown.when ? strings.ranged : strings.liveWindows) : stepWords(end, track.step_ms, clock)
  const current = marks
    .filter(({ from, to }) => end !== null && from < end && to >= end - track.step_ms)
    .map(({ label }) => label)
  const words = strings.with(time, current.join(strings.and))
  const last = track.steps - 1

  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Escape' || index === null) return
    event.preventDefault()
    film.live()
  }

  const move = (by: number) => film.show((index ?? track.steps) + by)

  return (
    <section className={styles.film} aria-label={strings.playback} onKeyDown={onKeyDown}>
      <div className={styles.line}>
        <div className={styles.buttons}>
          <ActionIcon variant="default" aria-label={strings.previous} disabled={index === 0} onClick={() => move(-1)}>
            <IconPlayerSkipBack size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="default"
            aria-label={isPlaying ? strings.pause : strings.play}
            onClick={isPlaying ? film.pause : film.play}
          >
            {isPlaying ? <IconPlayerPause size={16} aria-hidden /> : <IconPlayerPlay size={16} aria-hidden />}
          </ActionIcon>
          <ActionIcon
            variant="default"
            aria-label={strings.next}
            disabled={index === null || index === last}
            onClick={() => move(1)}
          >
            <IconPlayerSkipForward size={16} aria-hidden />
          </ActionIcon>
        </div>
        <div className={styles.track}>
          <TrackMarks marks={marks} track={track} />
          <input
            type="range"
            className={styles.range}
            aria-label={strings.position}
            aria-valuetext={words}
            min={0}
            max={last}
            step={1}
            value={index ?? last}
            onChange={({ currentTarget }) => film.show(Number(currentTarget.value))}
          />
        </div>
        <Button
          size="xs"
          variant={index === null ? 'light' : 'default'}
          title={strings.liveHint}
          disabled={index === null}
          onClick={film.live}
        >
          {strings.live}
        </Button>
      </div>
      <div className={styles.line}>
        <p className={styles.time} title={words}>
          {failed ? strings.failed : words}
        </p>
        <Choice
          size="xs"
          aria-label={strings.speed}
          data={SPEEDS.map((value) => ({ value: String(value), label: strings.speedOf(value) }))}
          value={String(speed)}
          onChange={(value) => setSpeed(Number(value))}
        />
        <SegmentedControl
          size="xs"
          aria-label={strings.range}
          data={RANGES}
          value={film.film}
          onChange={(value) => film.choose(value as FilmRange)}
        />
      </div>
    </section>
  )
}

/** Return the incidents and annotations on a track, in milliseconds. */
function useMarks(meshId: string, track: Track): FilmMark[] {
  const [start, end] = [track.first - track.step_ms, track.last]
  const annotations = useAnnotationMarks(meshId, {
    from: new Date(start).toISOString(),
    to: new Date(end).toISOString(),
  })
  const { data: incidents } = useQuery({
    ...incidentsQuery(meshId, ['open', 'acknowledged', 'resolved']),
    refetchInterval: INCIDENTS_MS,
  })
  return useMemo(() => {
    const spans = (incidents ?? []).map(({ id, title, severity, onset_at, ended_at }) => ({
      id,
      kind: severity,
      label: strings.incident(title),
      from: Date.parse(onset_at),
      to: ended_at === null ? serverNow() : Date.parse(ended_at),
    }))
    const events = (annotations ?? []).map(({ id, label, from, to }) => ({
      id,
      kind: 'annotation' as const,
      label,
      from: from * 1_000,
      to: (to ?? from) * 1_000,
    }))
    return [...spans, ...events].filter(({ from, to }) => from < end && to >= start)
  }, [incidents, annotations, start, end])
}

/** Load steps before they are shown, and show one after the other while the film plays. Return true after a failure. */
function usePlayback(meshId: string, shown: Shown, film: FilmState, speed: number): boolean {
  const queryClient = useQueryClient()
  const { film: range, track, index, isPlaying, advance, pause } = film
  const [failedAt, setFailedAt] = useState<number | null>(null)
  const { by, metric, app, statistic, slowest } = shown

  useEffect(() => {
    if (index === null) return
    const ends = (isPlaying ? Array.from({ length: AHEAD }, (_, ahead) => index + 1 + ahead) : [index + 1, index - 1])
      .filter((position) => position >= 0 && position < track.steps)
      .map((position) => endOf(track, position))
    // Equal to the address of the step, so that both are one query.
    const when = (end: number): When => ({ ...stepRange(range, end), percent: false })
    const load = (step: Shown) => {
      const own = queryClient.prefetchQuery(matrixQuery(meshId, step))
      const errors: Shown = { ...step, metric: 'clock_error', slowest: false }
      return facts(codingOf(step)).isClocked
        ? Promise.all([own, queryClient.prefetchQuery(matrixQuery(meshId, errors))])
        : own
    }
    const steps = ends.map((end): Shown => ({ by, metric, app, statistic, slowest, when: when(end) }))
    const loading = steps.map(load)
    const [next] = steps
    if (!isPlaying) return
    if (!next) {
      pause()
      return
    }
    let isOver = false
    let timer = 0
    const paused = new Promise<void>((resolve) => {
      timer = window.setTimeout(resolve, 1_000 / speed)
    })
    void Promise.all([paused, loading[0]]).then(() => {
      if (isOver) return
      const isFailed = queryClient.getQueryState(matrixQuery(meshId, next).queryKey)?.status === 'error'
      setFailedAt(isFailed ? index : null)
      if (isFailed) pause()
      else advance(index + 1)
    })
    return () => {
      isOver = true
      window.clearTimeout(timer)
    }
  }, [queryClient, meshId, range, by, metric, app, statistic, slowest, track, index, isPlaying, speed, advance, pause])
  return failedAt !== null && failedAt === index && !isPlaying
}
