import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { formatCount } from '~/lib/units'
import styles from './checkedInput.module.css'
import { strings } from './strings'

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Texts in which spaces alone are no value. A password may have them. */
const TEXTS = ['text', 'email', 'url', 'search', 'textarea']

/** Return a limit as the console writes numbers: thousands apart, decimals as they are. */
const limit = (text: string) => (Number.isInteger(Number(text)) ? formatCount(Number(text)) : text)

/** Return the reason in the language of the console; the browser's own words are in the browser's language. */
function messageOf(field: Field): string {
  const { validity, type } = field
  // Of what is no number, the browser has an empty value: it is missing too.
  if (validity.badInput) return type === 'number' ? strings.enterNumber : strings.enterTime
  if (validity.valueMissing) return field instanceof HTMLSelectElement ? strings.chooseOption : strings.enterValue
  if (!(field instanceof HTMLInputElement)) return field.validationMessage
  if (validity.tooShort) return strings.tooShort(field.minLength)
  if (validity.typeMismatch) return type === 'email' ? strings.enterEmail : strings.enterUrl
  if (type === 'number') {
    if (validity.rangeUnderflow) return strings.atLeast(limit(field.min))
    if (validity.rangeOverflow) return strings.atMost(limit(field.max))
    if (validity.stepMismatch && ['', '1'].includes(field.step)) return strings.enterWholeNumber
  }
  return field.validationMessage
}

const fieldsOf = (field: Field) => Array.from(field.form?.elements ?? []) as Field[]
const isFirstInvalid = (field: Field) => fieldsOf(field).find(({ validity }) => !validity?.valid) === field

/** The attribute with the largest number of characters of a text, see `longest`. */
const LONGEST = 'data-longest'

/**
 * Return the property of a text with at most `length` characters. The browser's own `maxLength` would cut what is
 * pasted without a word; this limit keeps the text and says how long it is.
 */
export const longest = (length: number) => ({ [LONGEST]: length })

/** Return why the browser must refuse a text: of nothing but spaces where one is required, or too long. */
function refusalOf(field: Field): string {
  const text = field.value.trim()
  if (field.required && field.value !== '' && text === '') return strings.enterValue
  const most = Number(field.getAttribute(LONGEST) ?? Number.POSITIVE_INFINITY)
  const { length } = [...text] // characters, as the server counts them
  return length > most ? strings.tooLong(formatCount(length), formatCount(most)) : ''
}

const isTooLong = (field: Field) =>
  field.hasAttribute(LONGEST) && field.validity.customError && field.value.trim() !== ''

function checkText(field: Field) {
  if (TEXTS.includes(field.type)) field.setCustomValidity(refusalOf(field))
}

/** Open what hides a field: the browser can neither show nor focus it in closed details. */
function reveal(field: Field) {
  for (let at = field.closest('details'); at; at = at.parentElement?.closest('details') ?? null) at.open = true
}

/** Return whether the person waits for the form of `field`: they pressed its button, and type nowhere else. */
function isSent({ form }: Field): boolean {
  const active = document.activeElement
  return active === document.body || (active instanceof HTMLButtonElement && active.form === form)
}

/**
 * An input, and below it the reason why its form was not sent. The browser's own bubble disappears and may be covered.
 * When the server refuses the form, its first wrong field takes the focus, as with the browser's checks.
 */
export function CheckedInput({ children }: { children: ReactNode }) {
  const [message, setMessage] = useState<string | null>(null)
  const box = useRef<HTMLDivElement>(null)
  const wasRefused = useRef(false)
  const id = useId()

  // After each rendering: an error of the server is a property of the field, and this box does not know when it changes.
  useEffect(() => {
    const field = box.current?.querySelector<Field>('input, select, textarea')
    if (!field) return
    checkText(field)
    const refused = field.getAttribute('aria-invalid') === 'true'
    const first = fieldsOf(field).find((one) => one.getAttribute('aria-invalid') === 'true') === field
    if (refused && !wasRefused.current && first && isSent(field)) {
      reveal(field)
      field.focus()
    }
    wasRefused.current = refused
  })

  // An emptied form is checked again: its fields change without an event of their own.
  useEffect(() => {
    const field = box.current?.querySelector<Field>('input, select, textarea')
    const form = field?.form
    if (!form) return
    const check = () => queueMicrotask(() => checkText(field))
    form.addEventListener('reset', check)
    return () => form.removeEventListener('reset', check)
  }, [])

  function onInvalid(event: FormEvent) {
    const field = event.target as Field
    event.preventDefault()
    setMessage(messageOf(field))
    field.setAttribute('aria-invalid', 'true')
    field.setAttribute('aria-errormessage', id)
    reveal(field)
    if (isFirstInvalid(field)) field.focus()
  }

  function onInput(event: FormEvent) {
    const field = event.target as Field
    checkText(field)
    if (isTooLong(field)) return onInvalid(event)
    if (message === null) return
    setMessage(null)
    field.removeAttribute('aria-invalid')
    field.removeAttribute('aria-errormessage')
  }

  return (
    <div
      ref={box}
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
