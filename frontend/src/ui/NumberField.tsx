import { TextInput, type TextInputProps } from '@mantine/core'

/** Above this the server reads no whole number exactly, and no quantity of the console is as large. */
const LARGEST = 1e15

/** A number, typed into the browser's own field. */
export function NumberField(props: Omit<TextInputProps, 'type'>) {
  return <TextInput max={LARGEST} {...props} type="number" inputMode="decimal" />
}
