/** One action on many inputs. */

import { Problem, Unreachable } from './problem'
import { strings } from './strings'

export interface Watch {
  /** Aborted: the inputs whose turn has not come are left. */
  signal: AbortSignal
  onProgress: (done: number) => void
}

/** The person stopped before the turn of this input. */
export class NotStarted extends Error {
  constructor() {
    super(strings.notStarted)
    this.name = 'NotStarted'
  }
}

/**
 * Apply `act` to each input, one after another: rows often share what they change, such as the revision of a mesh.
 * Return the reason of each failure in the order of the inputs, null where there was none.
 */
export async function inTurn<Input>(
  inputs: readonly Input[],
  act: (input: Input) => Promise<unknown>,
  { signal, onProgress }: Watch,
): Promise<unknown[]> {
  const failures: unknown[] = []
  for (const input of inputs) {
    const last = failures.at(-1)
    if (signal.aborted) failures.push(new NotStarted())
    else if (last instanceof Unreachable) failures.push(last)
    else failures.push(await failureOf(() => act(input), signal))
    onProgress(failures.length)
  }
  return failures
}

/** Return why an action failed, or null. Beyond the rate limit it waits and tries again. */
async function failureOf(act: () => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  for (;;) {
    try {
      await act()
      return null
    } catch (error) {
      if (!(error instanceof Problem && error.status === 429 && error.retryAfterS !== null)) return error
      await pause(error.retryAfterS * 1000, signal)
      if (signal.aborted) return new NotStarted()
    }
  }
}

/** Return the ids of rows, which most actions take. */
export const idsOf = <Id>(rows: readonly { id: Id }[]): Id[] => rows.map(({ id }) => id)

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

interface OnEach<Id> {
  each: (ids: readonly Id[], watch: Watch) => Promise<unknown[]>
}

/** Return an action on the selected rows of a list, whose effect is confirmed first. */
export const actOnRows = <Id>(label: string, action: OnEach<Id>, effect: string) => ({
  label,
  effect,
  run: (rows: readonly { id: Id }[], watch: Watch) => action.each(idsOf(rows), watch),
})
