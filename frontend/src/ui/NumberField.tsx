import { TextInput, type TextInputProps } from '@mantine/core'

/** A number, typed into the browser's own field. */
export function NumberField(props: Omit<TextInputProps, 'type'>) {
  return <TextInput {...props} type="number" inputMode="decimal" />
}
