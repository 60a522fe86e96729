import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import { formatCount } from '~/lib/units'
import { fill, press, screen, show, userEvent, waitFor } from '~/testing/page'
import { longest } from './CheckedInput'
import { NumberField } from './NumberField'

const onSubmit = vi.fn((event: React.FormEvent) => event.preventDefault())
beforeEach(() => {
  onSubmit.mockClear()
})

const formOf = (fields: React.ReactNode) =>
  show(
    <form onSubmit={onSubmit}>
      {fields}
      <Button type="submit">Create rule</Button>
    </form>,
  )

const form = () =>
  formOf(
    <>
      <TextInput label="Name" required />
      <NumberField label="Windows" min={1} max={60} defaultValue={99} />
      <NativeSelect label="Mesh" data={[{ value: '', label: '' }, 'demo']} required />
    </>,
  )

/** A form whose server refuses every name. */
function Refused() {
  const [error, setError] = useState<string>()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setError('This name is taken.')
      }}
    >
      <TextInput label="Reason" />
      <TextInput label="Name" required error={error} />
      <TextInput label="Other" error={error} />
      <Button type="submit">Create rule</Button>
    </form>
  )
}

const send = () => press('Create rule')

test('every field that keeps a form from being sent shows the reason below it; the first has the focus', async () => {
  form()
  expect(screen.queryByRole('alert')).toBeNull()
  await send()
  expect(onSubmit).not.toHaveBeenCalled()
  expect(screen.getAllByRole('alert').map(({ textContent }) => textContent)).toEqual([
    'Enter a value.',
    'Enter at most 60.',
    'Choose an option.',
  ])
  const name = screen.getByRole('textbox', { name: /^Name/ })
  expect(document.activeElement).toBe(name)
  expect(name.getAttribute('aria-invalid')).toBe('true')
  expect(document.getElementById(name.getAttribute('aria-errormessage') ?? '')?.textContent).toBe('Enter a value.')
})

test('the reason disappears when the field is changed, and a valid form is sent', async () => {
  form()
  await send()
  await userEvent.type(screen.getByRole('textbox', { name: /^Name/ }), 'Slow')
  await userEvent.clear(screen.getByRole('spinbutton', { name: 'Windows' }))
  await userEvent.selectOptions(screen.getByRole('combobox', { name: /^Mesh/ }), 'demo')
  expect(screen.queryByRole('alert')).toBeNull()
  expect(screen.getByRole('textbox', { name: /^Name/ }).getAttribute('aria-invalid')).toBeNull()
  await send()
  expect(onSubmit).toHaveBeenCalledOnce()
})

test.each([
  [<NumberField key="4" label="Field" defaultValue={1e20} />, `Enter at most ${formatCount(1e15)}.`],
  [<NumberField key="0" label="Field" min={0.5} step="any" defaultValue={0} />, 'Enter at least 0.5.'],
  [<NumberField key="1" label="Field" min={1} defaultValue={1.5} />, 'Enter a whole number.'],
  [
    <TextInput key="2" label="Field" type="email" defaultValue="ada" />,
    'Enter an e-mail address such as ada@example.com.',
  ],
  [
    <TextInput key="3" label="Field" type="url" defaultValue="a.b" />,
    'Enter an address that begins with https:// or http://.',
  ],
])('a wrong value of field %# is explained in the words of the console', async (field, message) => {
  formOf(field)
  await send()
  expect(screen.getByRole('alert').textContent).toBe(message)
})

test('a text that is too long is kept, and says how long it is and may be', async () => {
  formOf(<TextInput label="Name" {...longest(10)} />)
  const name = screen.getByRole<HTMLInputElement>('textbox', { name: 'Name' })
  await userEvent.click(name)
  await userEvent.paste('0123456789 and more')
  expect(name.value).toBe('0123456789 and more')
  expect(screen.getByRole('alert').textContent).toBe('Too long: 19 characters, at most 10 are allowed.')
  await send()
  expect(onSubmit).not.toHaveBeenCalled()
  await userEvent.clear(name)
  await userEvent.paste(' 🦉123456789 ')
  expect(screen.queryByRole('alert')).toBeNull()
  await send()
  expect(onSubmit).toHaveBeenCalledOnce()
})

test('a wrong field in closed details is shown', async () => {
  const { container } = formOf(
    <details>
      <summary>Advanced</summary>
      <NumberField label="Seed" required />
    </details>,
  )
  await send()
  expect(container.querySelector('details')?.open).toBe(true)
  expect(screen.getByRole('alert').textContent).toBe('Enter a value.')
})

const SOURCES = Object.entries(
  import.meta.glob<string>('../**/*.tsx', { query: '?raw', import: 'default', eager: true }),
).filter(([file]) => !file.endsWith('.test.tsx'))

/** A tenant's name has to be typed before its button works; the label of the field says so. */
const CONFIRMED_BY_NAME = '../features/tenant/Confirmation.tsx'

test('no field cuts what is pasted, and no form has a button that stays disabled', () => {
  expect(SOURCES.length).toBeGreaterThan(200)
  const cuts = SOURCES.filter(([, text]) => /maxLength=/.test(text))
  const disabled = SOURCES.filter(([, text]) => /<Button[^>]*type="submit"[^>]*\bdisabled=/.test(text))
  expect([...cuts, ...disabled].map(([file]) => file)).toEqual([CONFIRMED_BY_NAME])
})

test('no form has a field that changes what was typed', () => {
  // Mantine's NumberInput replaces a number beyond its limits when the field is left, and drops letters.
  expect(SOURCES.filter(([, text]) => /\bNumberInput\b/.test(text)).map(([file]) => file)).toEqual([])
})

test('a required text of spaces is no value; an emptied form is checked again', async () => {
  const { container } = formOf(<TextInput label="Name" required defaultValue="first" />)
  const name = screen.getByRole<HTMLInputElement>('textbox', { name: /^Name/ })
  await fill(name, '   ')
  await send()
  expect(screen.getByRole('alert').textContent).toBe('Enter a value.')
  expect(name.value).toBe('   ')
  container.querySelector('form')?.reset()
  await waitFor(() => expect(name.validity.valid).toBe(true))
})

test('the first field that the server refuses takes the focus and keeps what was typed', async () => {
  show(<Refused />)
  const name = screen.getByRole<HTMLInputElement>('textbox', { name: /^Name/ })
  await userEvent.type(name, 'Slow')
  await send()
  expect(document.activeElement).toBe(name)
  expect(name.value).toBe('Slow')
})

test('a person who types elsewhere by then keeps the focus there', async () => {
  show(<Refused />)
  await userEvent.type(screen.getByRole('textbox', { name: /^Name/ }), 'Slow{Enter}')
  const reason = screen.getByRole('textbox', { name: 'Reason' })
  await userEvent.type(reason, 'x')
  expect(document.activeElement).toBe(reason)
})
