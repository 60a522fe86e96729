import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { type TimeSearch, timeIn } from '~/lib/spans'

/** Return the time of the page, from the address: the same object while it does not change. */
export function useTime(): TimeSearch {
  const { span, from, until, versus }: TimeSearch = useSearch({ strict: false })
  return useMemo(() => timeIn({ span, from, until, versus } as TimeSearch), [span, from, until, versus])
}

/** Return a function that gives the page another time. A fixed colour scale belongs to the values it was fixed for. */
export function useSetTime() {
  const navigate = useNavigate()
  return useCallback(
    ({ span, from, until, versus }: TimeSearch) =>
      void navigate({
        to: '.',
        search: ((old: object) => ({ ...old, span, from, until, versus, scale: undefined })) as never,
        resetScroll: false,
      }),
    [navigate],
  )
}

/** Return a function that shows the range from `start` to `end` (Unix s), as after dragging over a chart. */
export function useZoomTime() {
  const time = useTime()
  const setTime = useSetTime()
  return useCallback(
    (start: number, end: number) => {
      const [from, until] = [start, end].map((at) => new Date(Math.round(at) * 1_000).toISOString())
      if (from && until && from < until) setTime({ ...(time.versus && { versus: time.versus }), from, until })
    },
    [time, setTime],
  )
}
