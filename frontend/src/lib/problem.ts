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

const textOfErrors = (errors: readonly FieldError[]) =>
  errors
    .map(({ pointer, message }) => [fieldName(pointer), message].filter((part) => part !== '').join(': '))
    .join('; ')

/** Return the text for people. The detail of a refused request only refers to its errors, so they replace it. */
function textOf({ code, detail, title, errors }: ProblemBody): string | undefined {
  if (code === 'version_changed') return strings.versionChanged
  return code === 'request_invalid' && errors?.length ? textOfErrors(errors) : (detail ?? title)
}

/** Return the name of a field in the body: `window_s` of "#/window_s"; empty for the whole body. */
const nameOf = (pointer: string) => pointer.replace(/^#\/?/, '')

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
  /** Names of the fields that have asked for their errors, so that the form does not repeat them. */
  private readonly asked = new Set<string>()

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
    this.asked.add(name)
    if (name === conflictingField(this.code)) return this.message
    return this.errors.find((error) => error.pointer === `#/${name}`)?.message
  }

  /** Return the errors of the fields whose names match, for a field that shows those of all its parts. */
  among(names: RegExp): FieldError[] {
    const found = this.errors.filter(({ pointer }) => names.test(nameOf(pointer)))
    for (const { pointer } of found) this.asked.add(nameOf(pointer))
    return found
  }

  /** Return what no field of the form shows; null if the fields show all of it. Ask once the fields have asked. */
  rest(): string | null {
    const taken = conflictingField(this.code)
    if (taken !== undefined && this.asked.has(taken)) return null
    const others = this.errors.filter(({ pointer }) => !this.asked.has(nameOf(pointer)))
    if (others.length === this.errors.length) return this.message
    if (others.length === 0) return null
    return this.code === 'request_invalid' ? textOfErrors(others) : this.message
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

/** Return a function that gives a field of a form its name in the body, and why the server refused it. */
export const fieldsOf =
  ({ error }: { error: unknown }) =>
  (name: string) => ({ name, error: error instanceof Problem ? error.field(name) : undefined })
