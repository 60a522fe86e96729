/** A stream of the events of one mesh, kept open. */

/** `crowded`: the browser has as many streams as it may have; `window`: new windows are stored, or were missed. */
export type LiveEvent = { kind: 'open' | 'broken' | 'crowded' | 'window' } | { kind: 'second'; id: string }

const REOPEN_MS = [1_000, 2_000, 5_000, 10_000]

/**
 * Open the stream of a mesh. An `EventSource` reconnects by itself after a broken connection but gives up after an error
 * response, so it is reopened here. Return a function that closes it.
 */
export function openStream(meshId: string, hear: (event: LiveEvent) => void): () => void {
  let source: EventSource
  let reopening: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let lastId = ''

  function open() {
    // The browser sends the id of the last event only when it reconnects by itself.
    const opened = new EventSource(`/v1/meshes/${meshId}/live${lastId && `?after=${encodeURIComponent(lastId)}`}`)
    source = opened
    opened.onopen = () => {
      failures = 0
      hear({ kind: 'open' })
    }
    // Missed windows are sent again, or a reset where the server has dropped them.
    for (const name of ['window', 'reset']) {
      opened.addEventListener(name, (event) => {
        lastId = (event as MessageEvent).lastEventId
        hear({ kind: 'window' })
      })
    }
    opened.addEventListener('on_demand', (event) => {
      const { data, lastEventId } = event as MessageEvent<string>
      lastId = lastEventId
      hear({ kind: 'second', id: JSON.parse(data).id })
    })
    opened.onerror = () => {
      hear({ kind: 'broken' })
      if (opened.readyState !== EventSource.CLOSED) return
      reopening = setTimeout(open, REOPEN_MS[Math.min(failures, REOPEN_MS.length - 1)])
      failures += 1
    }
  }

  open()
  return () => {
    clearTimeout(reopening)
    source.close()
  }
}
