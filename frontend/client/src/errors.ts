/** Refusals of the API: problem details (RFC 9457). */

export interface FieldError {
  /** The field as a JSON pointer (RFC 6901): "#/name". */
  pointer: string
  message: string
}

interface ProblemDetails {
  title?: string
  code?: string
  detail?: string
  request_id?: string
  errors?: FieldError[] | null
}

/** A response other than 2xx. */
export class ApiError extends Error {
  readonly status: number
  /** Stable: compare this, not the message. */
  readonly code: string
  readonly fields: readonly FieldError[]
  /** Identifies the request in the server's log. */
  readonly requestId: string | null
  /** Seconds after which the same request can succeed; null if the API names none. */
  readonly retryAfterS: number | null

  constructor(body: unknown, { status, headers }: Response) {
    const { title, code, detail, request_id, errors }: ProblemDetails = typeof body === 'object' && body ? body : {}
    super(detail ?? title ?? `The server answered with ${status}.`)
    this.name = 'ApiError'
    this.status = status
    this.code = code ?? 'http_error'
    this.fields = errors ?? []
    this.requestId = request_id ?? headers.get('X-Request-Id')
    this.retryAfterS = retryAfterOf(headers)
  }
}

/** Return the seconds of `Retry-After`, null without. The API writes seconds, never a date. */
export function retryAfterOf(headers: Headers): number | null {
  const seconds = Number.parseInt(headers.get('Retry-After') ?? '', 10)
  return Number.isNaN(seconds) ? null : seconds
}
