import { NativeSelect, type NativeSelectProps } from '@mantine/core'
import { labelled, type Option } from '~/lib/options'

interface Props<T extends string> extends Omit<NativeSelectProps, 'data' | 'value' | 'onChange'> {
  /** The options in their order; or, by value, the label of each. */
  data: readonly (T | Option<T>)[] | Readonly<Record<T, string>>
  /** The label of a first option that chooses nothing: its value is empty. */
  none?: string
  value?: NoInfer<T> | '' | undefined
  onChange?: (value: T) => void
}

/** One of a few values, in the browser's own field. */
export function Choice<T extends string>({ data, none, onChange = () => {}, ...props }: Props<T>) {
  const options: readonly (string | Option)[] = Array.isArray(data) ? data : labelled(data as Record<T, string>)
  const nothing = none === undefined ? [] : [{ value: '', label: none }]
  return (
    <NativeSelect
      {...props}
      data={[...nothing, ...options]}
      onChange={({ currentTarget }) => onChange(currentTarget.value as T)}
    />
  )
}
