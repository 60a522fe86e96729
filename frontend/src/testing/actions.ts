/** What people do on a page, and what they read in a table. */

import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

/** Put a text into a field in place of its own, in one go: the page renders once, not once a letter. */
export async function fill(field: Element, text: string) {
  await userEvent.clear(field)
  await userEvent.paste(text)
}

export const press = (name: string | RegExp) => userEvent.click(screen.getByRole('button', { name }))

export const field = (label: string | RegExp) => screen.getByLabelText<HTMLInputElement>(label)

/** Choose a file in the first field for files; what is no text is written as JSON. */
export const upload = (content: unknown, name: string, type = 'application/json') =>
  userEvent.upload(
    document.querySelector('input[type=file]') as HTMLInputElement,
    new File([typeof content === 'string' ? content : JSON.stringify(content)], name, { type }),
  )

/** Return the texts of the cells of a row, or of a small table, as of one line. */
export const cellsOf = (row: HTMLElement) =>
  within(row)
    .getAllByRole('cell')
    .map(({ textContent }) => textContent)
    .join(' | ')

/** Return the texts of the rows below the heading of a named table, or of the only table. */
export async function rowsOf(name?: string | RegExp) {
  const table = name === undefined ? screen : within(await screen.findByRole('region', { name }))
  const [, ...rows] = await table.findAllByRole('row')
  return rows.map(({ textContent }) => textContent)
}
