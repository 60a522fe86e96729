import type { TextInputProps } from '@mantine/core'
import { useState } from 'react'
import { NumberField, numberOf } from './NumberField'

interface Props extends Omit<TextInputProps, 'type' | 'value' | 'defaultValue' | 'onChange' | 'onBlur' | 'onKeyDown'> {
  number: number
  onNumber: (number: number) => void
}

/**
 * A number that a page uses without a form: as soon as the field is left, or Enter is pressed. An empty or wrong one
 * is not used, and the field shows why.
 */
export function LiveNumber({ number, onNumber, ...props }: Props) {
  const [typed, setTyped] = useState({ text: String(number), of: number })
  // The page may take another number, as from its address. A new field would lose the focus.
  if (typed.of !== number) setTyped({ text: String(number), of: number })
  const use = (field: HTMLInputElement) => {
    if (field.checkValidity() && numberOf(field.value) !== number) onNumber(numberOf(field.value))
  }
  return (
    <NumberField
      required
      withAsterisk={false}
      {...props}
      value={typed.text}
      onChange={({ currentTarget }) => setTyped({ text: currentTarget.value, of: number })}
      onBlur={({ currentTarget }) => use(currentTarget)}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && use(currentTarget)}
    />
  )
}
