import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { screen, show, userEvent } from '~/testing/page'
import { LiveNumber } from './LiveNumber'

const onNumber = vi.fn()

function Page() {
  const [number, setNumber] = useState(60)
  const use = (next: number) => {
    onNumber(next)
    setNumber(next)
  }
  return <LiveNumber label="Look-back (min)" min={2} max={1_440} number={number} onNumber={use} />
}

async function type(text: string) {
  onNumber.mockClear()
  show(<Page />)
  const field = screen.getByRole<HTMLInputElement>('spinbutton', { name: 'Look-back (min)' })
  await userEvent.clear(field)
  if (text) await userEvent.type(field, text)
  return field
}

test('a number is used on Enter, and the field keeps the focus', async () => {
  const field = await type('25')
  expect(field.value).toBe('25')
  expect(onNumber).not.toHaveBeenCalled()
  await userEvent.keyboard('{Enter}')
  expect(onNumber.mock.calls).toEqual([[25]])
  expect(document.activeElement).toBe(screen.getByRole('spinbutton'))
})

test('a number is used once the field is left', async () => {
  await type('30')
  await userEvent.tab()
  expect(onNumber.mock.calls).toEqual([[30]])
})

test.each([
  ['', 'Enter a value.'],
  ['1', 'Enter at least 2.'],
  ['99999', 'Enter at most 1 440.'],
  ['2.5', 'Enter a whole number.'],
])('"%s" is not used, and the field shows why', async (text, reason) => {
  const field = await type(text)
  await userEvent.tab()
  expect(onNumber).not.toHaveBeenCalled()
  expect(screen.getByText(reason)).toBeTruthy()
  expect(field.value).toBe(text)
})
