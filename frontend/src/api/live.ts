/** Follows the windows of a mesh as they arrive: a stream of events, or polling while there is none. */

import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { reportAway } from './connection'

export type LivePhase = 'off' | 'connecting' | 'live' | 'polling'

let phase: LivePhase = 'off'
const listeners = new Set<() => void>()

function setPhase(next: LivePhase) {
  if (next === phase) return
  phase = next
  for (const listener of listeners) listener()
}

export function useLivePhase(): LivePhase {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => phase,
  )
}

/** Several agents report the same window within a moment: one refetch serves them all. */
const GATHER_MS = 400
const REOPEN_MS = [1_000, 2_000, 5_000, 10_000]

/**
 * Calls `onWindow` soon after new windows of a mesh are stored. An `EventSource` reconnects by itself after a broken
 * connection but gives up for good on an error answer, so it is reopened here. Returns how to stop.
 */
export function followMesh(meshId: string, windowS: number, onWindow: () => void): () => void {
  let source: EventSource | undefined
  let reopening: ReturnType<typeof setTimeout> | undefined
  let gathering: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let heardAt = Date.now()
  let lastId = ''

  function gather() {
    gathering ??= setTimeout(() => {
      gathering = undefined
      onWindow()
    }, GATHER_MS)
  }

  function open() {
    // The browser names the last event when it reconnects by itself; a stream opened anew has to be told.
    const opened = new EventSource(`/v1/meshes/${meshId}/live${lastId && `?after=${encodeURIComponent(lastId)}`}`)
    source = opened
    opened.onopen = () => {
      failures = 0
      heardAt = Date.now()
      setPhase('live')
    }
    // What was missed comes as windows too, or as a reset where it cannot be told again: read everything anew.
    for (const name of ['window', 'reset']) {
      opened.addEventListener(name, (event) => {
        heardAt = Date.now()
        lastId = (event as MessageEvent).lastEventId
        gather()
      })
    }
    opened.onerror = () => {
      setPhase('polling')
      reportAwayIfOffline()
      if (opened.readyState !== EventSource.CLOSED) return
      reopening = setTimeout(open, REOPEN_MS[Math.min(failures, REOPEN_MS.length - 1)])
      failures += 1
    }
  }

  // Without a stream, or with one gone silent, the window length is how often there can be news.
  const polling = setInterval(() => {
    if (phase !== 'live' || Date.now() - heardAt > 2.5 * windowS * 1_000) gather()
  }, windowS * 1_000)

  setPhase('connecting')
  open()
  return () => {
    clearInterval(polling)
    clearTimeout(reopening)
    clearTimeout(gathering)
    source?.close()
    setPhase('off')
  }
}

/** A broken stream is often the first sign that the backend is away: one call tells. */
function reportAwayIfOffline() {
  fetch('/readyz', { cache: 'no-store' }).then(
    (response) => {
      if (!response.ok) reportAway()
    },
    () => reportAway(),
  )
}

/** Keeps everything measured in a mesh fresh while the page shows it. */
export function useMeshLive(meshId: string, windowS: number) {
  const queryClient = useQueryClient()
  useEffect(
    () =>
      followMesh(meshId, windowS, () => {
        void queryClient.invalidateQueries({ queryKey: ['meshes', meshId, 'measured'] })
      }),
    [meshId, windowS, queryClient],
  )
}
