/** A form and the object it edits, which somebody else may change meanwhile. */

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Return what was typed; fields that were not touched since `before` have the values of `now`. */
export function rebase<T extends object>(typed: T, before: T, now: T): T {
  const names = Object.keys(typed) as (keyof T)[]
  return Object.fromEntries(names.map((name) => [name, same(typed[name], before[name]) ? now[name] : typed[name]])) as T
}

/** Return the fields of `now` that differ from `before`: a request changes only what the person changed. */
export function changedFields<T extends object>(before: T, now: T): Partial<T> {
  const names = Object.keys(now) as (keyof T)[]
  return Object.fromEntries(
    names.filter((name) => !same(before[name], now[name])).map((name) => [name, now[name]]),
  ) as Partial<T>
}

export interface Difference {
  label: string
  before: string
  now: string
}

/** Return what differs between two descriptions of an object: text by label. */
export function differences(before: Record<string, string>, now: Record<string, string>): Difference[] {
  const labels = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return labels
    .map((label) => ({ label, before: before[label] ?? '', now: now[label] ?? '' }))
    .filter((one) => one.before !== one.now)
}
