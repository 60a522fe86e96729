/** The live streams of all tabs of this browser, in one shared worker: one for each mesh that a visible tab shows. */

import { type LiveEvent, openStream } from './liveStream'

/** Half of the connections of a browser to a host over HTTP/1.1; the others are for requests. Further meshes are polled. */
const STREAMS_MOST = 3

/** The mesh of each visible tab. */
const shown = new Map<MessagePort, string>()
const streams = new Map<string, { close: () => void; state: LiveEvent }>()

function tell(meshId: string, event: LiveEvent) {
  for (const [port, mesh] of shown) if (mesh === meshId) port.postMessage(event)
}

function openFor(meshId: string) {
  const stream = { close: () => {}, state: { kind: 'broken' } as LiveEvent }
  streams.set(meshId, stream)
  stream.close = openStream(meshId, (event) => {
    if (event.kind === 'open' || event.kind === 'broken') stream.state = event
    tell(meshId, event)
  })
}

/** Close the streams that no tab needs, then open those that are missing. */
function arrange() {
  const meshes = new Set(shown.values())
  for (const [meshId, { close }] of streams) {
    if (meshes.has(meshId)) continue
    close()
    streams.delete(meshId)
  }
  for (const meshId of meshes) if (!streams.has(meshId) && streams.size < STREAMS_MOST) openFor(meshId)
}

function show(port: MessagePort, meshId: string | null) {
  if (meshId === null) shown.delete(port)
  else shown.set(port, meshId)
  arrange()
  if (meshId === null) return
  const stream = streams.get(meshId)
  if (!stream) port.postMessage({ kind: 'crowded' })
  else if (stream.state.kind === 'open') port.postMessage(stream.state)
}

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports
  if (!port) return
  port.onmessage = ({ data }: MessageEvent<string | null>) => show(port, data)
  // A tab that crashed says no word.
  port.addEventListener('close', () => show(port, null))
})
