import { TextInput, type TextInputProps } from '@mantine/core'

/** Above this the server reads no whole number exactly, and no quantity of the console is as large. */
const LARGEST = 1e15

/** Return the number of a field; NaN for an empty one, so that it can be emptied to type another. */
export const numberOf = (text: string) => (text.trim() === '' ? Number.NaN : Number(text))

/** A number, typed into the browser's own field. A `value` of NaN is an empty field. */
export function NumberField({ value, ...props }: Omit<TextInputProps, 'type'>) {
  const shown = value === undefined ? {} : { value: Number.isNaN(value) ? '' : value }
  return <TextInput max={LARGEST} {...props} {...shown} type="number" inputMode="decimal" />
}

type Props = Parameters<typeof NumberField>[0] & { name: string }

/** Number fields of a form, one after the other; one that begins with a number is required. */
export const NumberFields = ({ fields }: { fields: readonly Props[] }) =>
  fields.map((field) => <NumberField key={field.name} required={field.defaultValue !== undefined} {...field} />)
