/** What a form lacks that no browser checks: a list without a choice, a file. Its button stays enabled and says so. */

import { useState } from 'react'

export interface Missing<Name extends string> {
  isComplete: boolean
  /** For the button of the form; Enter in a field presses it too. */
  onAttempt: () => void
  /** Return what is missing at a field, once the person has tried to send the form. */
  at: (name: Name) => string | undefined
}

/** `reasons`: by field, what to do about it; null where nothing is missing. */
export function useMissing<Name extends string>(reasons: Record<Name, string | null>): Missing<Name> {
  const [wasTried, setTried] = useState(false)
  const isComplete = Object.values(reasons).every((reason) => reason === null)
  return {
    isComplete,
    onAttempt: () => setTried(!isComplete),
    at: (name) => (wasTried ? (reasons[name] ?? undefined) : undefined),
  }
}
