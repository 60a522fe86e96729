/** Follows the windows of a mesh as they arrive: a stream of events, or polling while the stream is broken. */

import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { createStore, useStore } from '~/lib/store'
import { reportAway } from './connection'

export type LivePhase = 'off' | 'connecting' | 'live' | 'polling'

/** Measurements on demand are cached under this name and their id. */
export const ON_DEMAND = 'on-demand-measurements'

const phase = createStore<LivePhase>('off')

export const useLivePhase = () => useStore(phase)

/** Several agents report the same window within a moment: one refetch serves them all. */
const GATHER_MS = 400
const REOPEN_MS = [1_000, 2_000, 5_000, 10_000]

/**
 * Call `onWindow` soon after new windows of a mesh are stored, and `onSecond` with each second measured on demand. An `EventSource` reconnects by itself after a broken
 * connection but gives up after an error response, so it is reopened here. Return a function that stops.
 */
export function followMesh(
  meshId: string,
  windowS: number,
  onWindow: () => void,
  onSecond: (measurementId: string) => void = () => {},
): () => void {
  let source: EventSource | undefined
  let reopening: ReturnType<typeof setTimeout> | undefined
  let gathering: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let lastEventAt = Date.now()
  let lastId = ''

  function gather() {
    gathering ??= setTimeout(() => {
      gathering = undefined
      onWindow()
    }, GATHER_MS)
  }

  function open() {
    // The browser sends the id of the last event only when it reconnects by itself.
    const opened = new EventSource(`/v1/meshes/${meshId}/live${lastId && `?after=${encodeURIComponent(lastId)}`}`)
    source = opened
    opened.onopen = () => {
      failures = 0
      lastEventAt = Date.now()
      phase.set('live')
    }
    // Missed windows are sent again, or a reset where the server has dropped them.
    for (const name of ['window', 'reset']) {
      opened.addEventListener(name, (event) => {
        lastEventAt = Date.now()
        lastId = (event as MessageEvent).lastEventId
        gather()
      })
    }
    opened.addEventListener('on_demand', (event) => {
      lastEventAt = Date.now()
      const { data, lastEventId } = event as MessageEvent<string>
      lastId = lastEventId
      onSecond(JSON.parse(data).id)
    })
    opened.onerror = () => {
      phase.set('polling')
      reportAwayIfOffline()
      if (opened.readyState !== EventSource.CLOSED) return
      reopening = setTimeout(open, REOPEN_MS[Math.min(failures, REOPEN_MS.length - 1)])
      failures += 1
    }
  }

  // Without a stream, or with a silent one, new windows arrive at most once per window length.
  const polling = setInterval(() => {
    if (phase.get() !== 'live' || Date.now() - lastEventAt > 2.5 * windowS * 1_000) gather()
  }, windowS * 1_000)

  phase.set('connecting')
  open()
  return () => {
    clearInterval(polling)
    clearTimeout(reopening)
    clearTimeout(gathering)
    source?.close()
    phase.set('off')
  }
}

/** Check the backend: a broken stream is often the first sign that it is away. */
function reportAwayIfOffline() {
  fetch('/readyz', { cache: 'no-store' }).then(
    (response) => {
      if (!response.ok) reportAway()
    },
    () => reportAway(),
  )
}

/** Keep everything measured in a mesh fresh while the page shows it. */
export function useMeshLive(meshId: string, windowS: number) {
  const queryClient = useQueryClient()
  useEffect(
    () =>
      followMesh(
        meshId,
        windowS,
        () => void queryClient.invalidateQueries({ queryKey: ['meshes', meshId, 'measured'] }),
        (id) => void queryClient.invalidateQueries({ queryKey: [ON_DEMAND, id] }),
      ),
    [meshId, windowS, queryClient],
  )
}
