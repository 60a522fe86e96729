/** Whether the backend answers. Every call reports here; while it is away a probe asks until it is back. */

import { useSyncExternalStore } from 'react'

export interface Connection {
  away: boolean
  /** When it was first noticed to be away, ms. */
  since: number
}

const PROBE_MS = 2_000

let state: Connection = { away: false, since: 0 }
let clockOffsetMs = 0
const listeners = new Set<() => void>()

function set(next: Connection) {
  state = next
  for (const listener of listeners) listener()
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const connection = (): Connection => state

export const useConnection = () => useSyncExternalStore(subscribe, connection)

export function reportAway() {
  if (state.away) return
  set({ away: true, since: Date.now() })
  setTimeout(probe, PROBE_MS)
}

export function reportAnswer(response: Response) {
  const date = Date.parse(response.headers.get('Date') ?? '')
  // The header has whole seconds; a smaller difference says nothing about this machine's clock.
  if (Number.isFinite(date)) clockOffsetMs = Math.abs(date - Date.now()) > 2_000 ? date - Date.now() : 0
  if (state.away) set({ away: false, since: Date.now() })
}

/** The backend's time, ms: the age of data must not depend on how well this machine's clock is set. */
export const serverNow = () => Date.now() + clockOffsetMs

async function probe() {
  if (!state.away) return
  try {
    const response = await fetch('/readyz', { cache: 'no-store' })
    if (response.ok) return reportAnswer(response)
  } catch {
    // Still away: ask again.
  }
  setTimeout(probe, PROBE_MS)
}
