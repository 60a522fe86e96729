/** Options of a field that chooses one of a few values. */

export interface Option<T extends string = string> {
  value: T
  label: string
  disabled?: boolean
}

/** Return options with their labels; by default one for each label, in their order. */
export const labelled = <T extends string>(
  labels: Readonly<Record<T, string>>,
  values: readonly T[] = Object.keys(labels) as T[],
): Option<T>[] => values.map((value) => ({ value, label: labels[value] }))

/** Return an option for each of some objects; none while they load. */
export const named = (objects: readonly { id: string; name: string }[] | undefined): Option[] =>
  (objects ?? []).map(({ id, name }) => ({ value: id, label: name }))
