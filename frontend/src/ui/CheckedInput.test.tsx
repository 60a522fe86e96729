// @vitest-environment jsdom
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { show } from '~/testing/render'
import { NumberField } from './NumberField'

const onSubmit = vi.fn((event: React.FormEvent) => event.preventDefault())

const form = () =>
  show(
    <form onSubmit={onSubmit}>
      <TextInput label="Name" required />
      <NumberField label="Windows" min={1} max={60} defaultValue={99} />
      <NativeSelect label="Mesh" data={[{ value: '', label: '' }, 'demo']} required />
      <Button type="submit">Create rule</Button>
    </form>,
  )

const send = () => userEvent.click(screen.getByRole('button', { name: 'Create rule' }))

test('every field that keeps a form from being sent shows the reason below it; the first has the focus', async () => {
  form()
  expect(screen.queryByRole('alert')).toBeNull()
  await send()
  expect(onSubmit).not.toHaveBeenCalled()
  expect(screen.getAllByRole('alert').map(({ textContent }) => textContent)).toEqual([
    'Enter a value.',
    screen.getByRole<HTMLInputElement>('spinbutton').validationMessage,
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
