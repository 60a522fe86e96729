import { type FormEvent, type ReactNode, useId, useState } from 'react'
import styles from './checkedInput.module.css'
import { strings } from './strings'

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

function messageOf(field: Field): string {
  if (field.validity.valueMissing) return field instanceof HTMLSelectElement ? strings.chooseOption : strings.enterValue
  return field.validationMessage
}

const isFirstInvalid = (field: Field) =>
  Array.from(field.form?.elements ?? []).find((element) => !(element as Field).validity?.valid) === field

/** An input, and below it the reason why its form was not sent. The browser's own bubble disappears and may be covered. */
export function CheckedInput({ children }: { children: ReactNode }) {
  const [message, setMessage] = useState<string | null>(null)
  const id = useId()

  function onInvalid(event: FormEvent) {
    const field = event.target as Field
    event.preventDefault()
    setMessage(messageOf(field))
    field.setAttribute('aria-invalid', 'true')
    field.setAttribute('aria-errormessage', id)
    if (isFirstInvalid(field)) field.focus()
  }

  function onInput(event: FormEvent) {
    if (message === null) return
    const field = event.target as Field
    setMessage(null)
    field.removeAttribute('aria-invalid')
    field.removeAttribute('aria-errormessage')
  }

  return (
    <div
      className={styles.checked}
      data-invalid={message !== null || undefined}
      onInvalid={onInvalid}
      onInput={onInput}
    >
      {children}
      {message !== null && (
        <p id={id} role="alert" className={styles.message}>
          {message}
        </p>
      )}
    </div>
  )
}
