/** Follows the windows of a mesh as they arrive: a stream of events, or polling while the stream is broken. */

import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { createStore, useStore } from '~/lib/store'
import { reportAway } from './connection'
import { type LiveEvent, openStream } from './liveStream'

export type LivePhase = 'off' | 'connecting' | 'live' | 'polling'

/** Measurements on demand are cached under this name and their id. */
export const ON_DEMAND = 'on-demand-measurements'

const phase = createStore<LivePhase>('off')

export const useLivePhase = () => useStore(phase)

/** Several agents report the same window within a moment: one refetch serves them all. */
const GATHER_MS = 400

/**
 * Call `onWindow` soon after new windows of a mesh are stored, and `onSecond` with each second measured on demand; while
 * the page is hidden, never. Return a function that stops.
 */
export function followMesh(
  meshId: string,
  windowS: number,
  onWindow: () => void,
  onSecond: (measurementId: string) => void = () => {},
): () => void {
  let gathering: ReturnType<typeof setTimeout> | undefined
  let lastEventAt = Date.now()

  function gather() {
    gathering ??= setTimeout(() => {
      gathering = undefined
      onWindow()
    }, GATHER_MS)
  }

  const listen = sharedStream((event) => {
    lastEventAt = Date.now()
    if (event.kind === 'open') phase.set('live')
    else if (event.kind === 'second') onSecond(event.id)
    else if (event.kind === 'window') gather()
    else {
      phase.set('polling')
      if (event.kind === 'broken') reportAwayIfOffline()
    }
  })

  // Without a stream, or with a silent one, new windows arrive at most once per window length.
  const polling = setInterval(() => {
    const isSilent = phase.get() !== 'live' || Date.now() - lastEventAt > 2.5 * windowS * 1_000
    if (!document.hidden && isSilent) gather()
  }, windowS * 1_000)

  function onVisibility() {
    listen(document.hidden ? null : meshId)
    if (!document.hidden) gather()
  }

  phase.set('connecting')
  if (!document.hidden) listen(meshId)
  document.addEventListener('visibilitychange', onVisibility)
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    clearInterval(polling)
    clearTimeout(gathering)
    listen(null)
    phase.set('off')
  }
}

let worker: SharedWorker | undefined

/**
 * Return a function that names the mesh to listen to, or null. One worker has the streams of all tabs: over HTTP/1.1 a
 * browser opens six connections to a host, and each stream holds one. A browser without such workers has a stream a tab.
 */
function sharedStream(hear: (event: LiveEvent) => void): (meshId: string | null) => void {
  if (typeof SharedWorker === 'undefined') {
    let close = () => {}
    return (meshId) => {
      close()
      close = meshId === null ? () => {} : openStream(meshId, hear)
    }
  }
  worker ??= new SharedWorker(new URL('./live.worker.ts', import.meta.url), { type: 'module' })
  const { port } = worker
  // Without its script, after an upgrade or behind a proxy that refuses it, the page polls and says so.
  worker.onerror = () => hear({ kind: 'broken' })
  port.onmessage = ({ data }: MessageEvent<LiveEvent>) => hear(data)
  return (meshId) => port.postMessage(meshId)
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
