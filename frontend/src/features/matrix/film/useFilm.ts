import { useDebouncedCallback } from '@mantine/hooks'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { serverNow } from '~/api/connection'
import { endOf, FILMS, type Film, indexOf, stepEnd, type Track, trackOf } from '~/lib/film'
import type { TimeSearch } from '~/lib/spans'
import { useNow } from '~/ui/useNow'
import type { MatrixSearch } from '../search'

export interface FilmState {
  film: Film
  track: Track
  /** The shown step, from 0; null while the heatmap is live or shows a range. */
  index: number | null
  isPlaying: boolean
  /** The search of the page with the shown step; the address follows a little later. */
  search: MatrixSearch & TimeSearch
  /** The range of the film around a shown step, which pages of its paths show. */
  around: TimeSearch
  /** Stop at a step. */
  show: (index: number) => void
  /** Go on to a step while the film plays. */
  advance: (index: number) => void
  play: () => void
  pause: () => void
  /** Return to the newest windows. */
  live: () => void
  choose: (film: Film) => void
}

const LATER_MS = 300
const LIVE_MS = 15_000

const iso = (at: number) => new Date(at).toISOString()
const rangeKey = ({ span, from, until }: TimeSearch) => [span, from, until].join(' ').trim()

/** The position and the steps of the playback of a heatmap. While it plays, the address keeps where it began. */
export function useFilm(search: MatrixSearch & TimeSearch, onSearch: (patch: MatrixSearch) => unknown): FilmState {
  const film = search.film ?? '1h'
  const step_ms = FILMS[film].step_s * 1_000
  const range = rangeKey(search)
  const [at, setAt] = useState(() => (search.at && !range ? Date.parse(search.at) : null))
  const [isPlaying, setPlaying] = useState(false)
  const written = useRef(search.at)
  const known = useRef(range)
  const write = useCallback(
    (text: string) => {
      written.current = text || undefined
      onSearch({ at: text })
    },
    [onSearch],
  )
  const writeLater = useDebouncedCallback(write, LATER_MS)
  const leave = useCallback(() => {
    setPlaying(false)
    setAt(null)
    writeLater.cancel()
    write('')
  }, [write, writeLater])

  useEffect(() => {
    if (range === known.current) return
    known.current = range
    // A range was chosen: it takes the place of the step.
    if (range && written.current) leave()
  }, [range, leave])

  useEffect(() => {
    // Another address: the person went back, or followed a link.
    if (search.at === written.current) return
    written.current = search.at
    writeLater.cancel()
    setPlaying(false)
    setAt(search.at ? Date.parse(search.at) : null)
  }, [search.at, writeLater])

  const now = useNow(LIVE_MS, serverNow)
  const [kept, setKept] = useState<{ film: Film; track: Track } | null>(null)
  // The track moves with time while the heatmap is live, and stays under the steps of a film.
  const end = at === null ? null : stepEnd(at, step_ms)
  const fits = kept?.film === film && end !== null && kept.track.first <= end && end <= kept.track.last
  const newest = useMemo(() => trackOf(film, now, end), [film, now, end])
  const track = fits ? kept.track : newest
  const held = end === null ? null : track
  if ((kept?.track ?? null) !== held) setKept(held && { film, track })
  // A step that has not ended is shown once it has; until then, the newest one is.
  const shown = end === null ? null : Math.min(end, track.last)

  const advance = useCallback((index: number) => setAt(endOf(track, index)), [track])
  const show = useCallback(
    (index: number) => {
      const chosen = endOf(track, Math.min(track.steps - 1, Math.max(0, index)))
      setPlaying(false)
      setAt(chosen)
      writeLater(iso(chosen))
    },
    [track, writeLater],
  )
  const play = useCallback(() => {
    const start = shown === null || shown >= track.last ? track.first : shown
    setAt(start)
    setPlaying(true)
    writeLater.cancel()
    write(iso(start))
  }, [shown, track, write, writeLater])
  const pause = useCallback(() => {
    setPlaying(false)
    if (shown !== null) writeLater(iso(shown))
  }, [shown, writeLater])
  const choose = useCallback((chosen: Film) => void onSearch({ film: chosen }), [onSearch])

  const text = shown === null ? undefined : iso(shown)
  const stepped = useMemo(() => {
    const { at: _, ...live } = search
    if (!text) return live
    const { span, from, until, versus, ...timeless } = live
    return { ...timeless, at: text }
  }, [search, text])
  const index = shown === null ? null : indexOf(track, shown)
  const around = index === null ? {} : { from: iso(track.first - step_ms), until: iso(track.last) }
  return { film, track, index, isPlaying, search: stepped, around, show, advance, play, pause, live: leave, choose }
}
