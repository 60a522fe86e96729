/** The connection to the backend. Every call reports here; while the backend is away, a probe runs until it is back. */

import { connection } from '~/lib/connection'

const PROBE_MS = 2_000

let clockOffsetMs = 0

export function reportAway() {
  if (connection.get().away) return
  connection.set({ away: true, since: Date.now() })
  setTimeout(probe, PROBE_MS)
}

export function reportAnswer(response: Response) {
  const date = Date.parse(response.headers.get('Date') ?? '')
  // The header has whole seconds; a smaller difference may be rounding.
  if (Number.isFinite(date)) clockOffsetMs = Math.abs(date - Date.now()) > 2_000 ? date - Date.now() : 0
  if (connection.get().away) connection.set({ away: false, since: Date.now() })
}

/** The backend's time, ms: the age of data must not depend on how well this machine's clock is set. */
export const serverNow = () => Date.now() + clockOffsetMs

async function probe() {
  if (!connection.get().away) return
  try {
    const response = await fetch('/readyz', { cache: 'no-store' })
    if (response.ok) return reportAnswer(response)
  } catch {
    // Still away: probe again.
  }
  setTimeout(probe, PROBE_MS)
}
