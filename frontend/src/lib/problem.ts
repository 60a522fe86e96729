/** The reason why a call failed: a response with problem details (RFC 9457), or no response. */

import { strings } from './strings'

export interface FieldError {
  pointer: string
  message: string
}

interface ProblemBody {
  title?: string
  status?: number
  code?: string
  detail?: string
  request_id?: string
  errors?: FieldError[] | null
}

/** Return the name of a field as people read it: "#/window_s" is "Window (s)"; empty for the whole body. */
function fieldName(pointer: string): string {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replace(/_(s|ms|us|ns|hz)$/, ' ($1)').replaceAll('_', ' '))
  const name = (parts[0] === 'path' || parts[0] === 'query' ? parts.slice(1) : parts).join(', ')
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** Return the text for people. The detail of a refused request only refers to its errors, so they replace it. */
function textOf({ code, detail, title, errors }: ProblemBody): string | undefined {
  if (code === 'version_changed') return strings.versionChanged
  if (code !== 'request_invalid' || !errors?.length) return detail ?? title
  return errors
    .map(({ pointer, message }) => [fieldName(pointer), message].filter((part) => part !== '').join(': '))
    .join('; ')
}

/** Return the field whose value contradicts stored data, as the code of a conflict names it. */
function conflictingField(code: string): string | undefined {
  if (code.endsWith('_name_taken') || code === 'saved_view_exists') return 'name'
  return code === 'invitation_exists' || code === 'member_exists' ? 'email' : undefined
}

export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  readonly errors: FieldError[]
  /** Seconds to wait before the same request can succeed; null if the server names none. */
  readonly retryAfterS: number | null

  constructor(body: ProblemBody, response: Response) {
    super(textOf(body) ?? strings.serverAnswered(response.status))
    this.name = 'Problem'
    this.status = body.status ?? response.status
    this.code = body.code ?? 'http_error'
    this.requestId = body.request_id ?? response.headers.get('X-Request-Id')
    this.errors = body.errors ?? []
    const seconds = Number.parseInt(response.headers.get('Retry-After') ?? '', 10)
    this.retryAfterS = Number.isNaN(seconds) ? null : seconds
  }

  /** Return the error of a form field, by its name in the body. A name that is taken is an error of its field too. */
  field(name: string): string | undefined {
    if (name === conflictingField(this.code)) return this.message
    return this.errors.find((error) => error.pointer === `#/${name}`)?.message
  }
}

/** No response: the server or the network is unavailable. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super(strings.unreachable, { cause })
    this.name = 'Unreachable'
  }
}

/** Return true when a later retry can help. */
export function passes(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof Problem && [429, 502, 503, 504].includes(error.status))
}
