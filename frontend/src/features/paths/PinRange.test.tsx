import { expect, test } from 'vitest'
import { rangeOf } from '~/lib/spans'
import { bodiesOf, fill, mockApi, reply, screen, showPage, userEvent, within } from '~/testing/page'
import { PinRange } from './PinRange'

async function pin() {
  await userEvent.click(screen.getByRole('button', { name: 'Pin this range' }))
  const dialog = within(await screen.findByRole('dialog', { name: 'Pin this range' }))
  await fill(dialog.getByRole('textbox', { name: /^Reason/ }), 'Complaint')
  await userEvent.click(dialog.getByRole('button', { name: 'Pin range' }))
  return dialog
}

test('the range on the screen is pinned with a reason', async () => {
  const sent = mockApi({ 'POST /v1/pins': () => reply(201, { id: 'p' }) })
  await showPage(<PinRange meshId="m" range={() => rangeOf({}, '15m')} />)
  const dialog = await pin()
  expect(await dialog.findByText('Range pinned.')).toBeTruthy()
  const [body] = bodiesOf(sent, 'POST /v1/pins') as [{ started_at: string; ended_at: string }]
  expect(body).toMatchObject({ mesh_id: 'm', reason: 'Complaint' })
  expect(Date.parse(body.ended_at) - Date.parse(body.started_at)).toBe(900_000)
})
