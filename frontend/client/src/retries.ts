/** When a request is sent again, and after which wait. */

import { retryAfterOf } from './errors.ts'

/** The waits follow `Retry-After`, else double from `firstWaitS` with jitter. A longer one than `waitMaxS` is not waited for. */
export interface Retries {
  attempts: number
  firstWaitS: number
  waitMaxS: number
}

const USUAL: Retries = { attempts: 4, firstWaitS: 0.5, waitMaxS: 60 }
/** The API changes nothing before it answers with one of these. */
const UNCHANGED = [429, 503]
/** Of a proxy: the request may have arrived. */
const UNCERTAIN = [502, 504]
/** Sent again after a lost response, these change nothing; a POST is safe with its idempotency key. */
const REPEATABLE = ['GET', 'HEAD', 'PUT', 'POST']

/** Return a `fetch` that sends a request again while it fails for a while. Rejects as `fetch` does. */
export function repeated(given: Partial<Retries> = {}): (request: Request) => Promise<Response> {
  const retries = { ...USUAL, ...given }
  return async (request) => {
    const repeatable = REPEATABLE.includes(request.method)
    for (let attempt = 1; ; attempt++) {
      let waitS: number | null
      try {
        const response = await fetch(request.clone())
        const passes = UNCHANGED.includes(response.status) || (repeatable && UNCERTAIN.includes(response.status))
        waitS = passes ? waitOf(retries, attempt, retryAfterOf(response.headers)) : null
        if (waitS === null) return response
      } catch (error) {
        waitS = repeatable && !request.signal.aborted ? waitOf(retries, attempt, null) : null
        if (waitS === null) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, 1_000 * (waitS ?? 0)))
    }
  }
}

function waitOf({ attempts, firstWaitS, waitMaxS }: Retries, attempt: number, askedS: number | null): number | null {
  if (attempt >= attempts) return null
  if (askedS !== null) return askedS <= waitMaxS ? askedS : null
  // Full jitter: clients that failed together do not come back together.
  return Math.min(waitMaxS, firstWaitS * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2)
}
