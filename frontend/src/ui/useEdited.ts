/** Follows the object that a form edits: keeps what is typed when somebody else changes it meanwhile. */

import { useState } from 'react'
import { type Difference, differences, rebase } from '~/lib/edited'

export interface Edited<T> {
  /** The fields as they were when the form opened, or since the person has seen a change. */
  before: T
  /** The version that a request names: after a change that the person has not seen, the one before it. */
  version: string
  /** The values that fill the fields; a new `formKey` fills them again. */
  initial: T
  formKey: number
  /** What somebody else has changed since the form opened. */
  changes: Difference[]
  /** Keep what is typed; fields that were not touched take their new values. Return the new values of all. */
  keep: (typed: T) => T
  /** Forget what is typed. Return the values of the other person. */
  take: () => T
  /** Note that the person has saved these fields. */
  saved: (fields: Partial<T>) => void
}

/**
 * `fields` and `version`: of the newest answer, which refetches replace. `describe`: the fields as text by label;
 * a change of anything else is none to this form.
 */
export function useEdited<T extends object>(
  fields: T,
  version: string,
  describe: (fields: T) => Record<string, string>,
): Edited<T> {
  const [before, setBefore] = useState(fields)
  const [read, setRead] = useState(version)
  const [filled, setFilled] = useState({ initial: fields, formKey: 0 })
  const changes = version === read ? [] : differences(describe(before), describe(fields))

  function begin(initial: T): T {
    setBefore(fields)
    setRead(version)
    setFilled(({ formKey }) => ({ initial, formKey: formKey + 1 }))
    return initial
  }

  return {
    before,
    version: changes.length > 0 ? read : version,
    ...filled,
    changes,
    keep: (typed) => begin(rebase(typed, before, fields)),
    take: () => begin(fields),
    saved: (own) => setBefore((old) => ({ ...old, ...own })),
  }
}
