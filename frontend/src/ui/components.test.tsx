import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { connection } from '~/lib/connection'
import { Problem, Unreachable } from '~/lib/problem'
import { act, screen, show, userEvent, waitFor, within } from '~/testing/page'
import { Confirm } from './Confirm'
import { CopyText } from './CopyText'
import { Dialog } from './Dialog'
import { QueryResult } from './QueryResult'
import { Records } from './Records'
import { ActionError, Failed } from './State'

const DOING = { mutate: vi.fn(), isPending: false, error: null, reset: vi.fn() }

test('a confirmation names the effect and why it failed, and acts only on its own button', async () => {
  const error = new Error('The VM is in use.')
  const onClose = vi.fn()
  const mutate = vi.fn((_: string, { onSuccess }: { onSuccess: () => void }) => onSuccess())
  show(
    <Confirm title="Delete a-1" action="Delete" about="7" doing={{ ...DOING, error, mutate }} onClose={onClose}>
      The VM is removed.
    </Confirm>,
  )
  const dialog = within(screen.getByRole('dialog', { name: 'Delete a-1' }))
  expect(dialog.getByText('The VM is removed.')).toBeTruthy()
  expect(mutate).not.toHaveBeenCalled()
  expect(dialog.getByRole('alert').textContent).toContain('The VM is in use.')
  await userEvent.click(dialog.getByRole('button', { name: 'Delete' }))
  expect(mutate.mock.calls[0]?.[0]).toBe('7')
  expect(onClose).toHaveBeenCalledOnce()
})

test('records are a table with named rows and columns, the current row marked', () => {
  show(
    <Records
      label="VMs"
      rows={[
        { name: 'a-1', loss: '0 %' },
        { name: 'b-2', loss: '1 %' },
      ]}
      id={({ name }) => name}
      isCurrent={({ name }) => name === 'b-2'}
      columns={[
        { title: 'VM', cell: ({ name }) => name, as: 'head' },
        { title: 'Loss', cell: ({ loss }) => loss, as: 'number' },
      ]}
    />,
  )
  expect(screen.getByRole('region', { name: 'VMs' })).toBeTruthy()
  expect(screen.getAllByRole('columnheader').map(({ textContent }) => textContent)).toEqual(['VM', 'Loss'])
  expect(screen.getByRole('rowheader', { name: 'b-2' }).closest('tr')?.getAttribute('aria-current')).toBe('true')
})

test('a text to copy keeps its words and reports success', async () => {
  const user = userEvent.setup()
  show(<CopyText label="Command" text="sinemora-agent run --backend https://x" />)
  const group = within(screen.getByRole('group', { name: 'Command' }))
  await user.click(group.getByRole('button', { name: 'Copy' }))
  expect(await navigator.clipboard.readText()).toBe('sinemora-agent run --backend https://x')
  expect(group.getByRole('button', { name: 'Copied' })).toBeTruthy()
})

test('a failure names the request, an unreachable server the reconnection', () => {
  const response = new Response(null, { status: 500, headers: { 'X-Request-ID': 'r-1' } })
  show(
    <>
      <Failed what="Meshes" error={new Problem({ detail: 'Out of disk.', request_id: 'r-1' }, response)} />
      <Failed what="Zones" error={new Unreachable(new Error())} />
    </>,
  )
  expect(screen.getByText('Out of disk.')).toBeTruthy()
  expect(screen.getByRole('heading', { name: 'Sinemora cannot be reached' })).toBeTruthy()
})

function Opener() {
  const [isOpened, setOpened] = useState(false)
  return (
    <>
      <Button onClick={() => setOpened(true)}>Edit</Button>
      {isOpened && (
        <Dialog title="Edit a-1" opened onClose={() => setOpened(false)}>
          <TextInput label="Name" />
        </Dialog>
      )}
    </>
  )
}

test('a dialog that comes and goes gives the focus back to what opened it', async () => {
  show(<Opener />)
  await userEvent.click(screen.getByRole('button', { name: 'Edit' }))
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'x{Escape}')
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Edit' })))
})

test('an action on what another person has deleted says so', () => {
  const body = { status: 404, code: 'alert_rule_unknown', detail: 'Unknown alert rule.', request_id: 'r-1' }
  show(<ActionError error={new Problem(body, new Response(null, { status: 404 }))} />)
  expect(screen.getByRole('alert').textContent?.trim()).toBe('Unknown alert rule. It may have been deleted meanwhile.')
})

test('a form that found no server does not say so any longer once the server responds', () => {
  act(() => connection.set({ away: true, since: 0 }))
  show(<ActionError error={new Unreachable(new Error())} />)
  expect(screen.getByRole('alert').textContent).toContain('Sinemora cannot be reached')
  act(() => connection.set({ away: false, since: 1 }))
  expect(screen.queryByRole('alert')).toBeNull()
  expect(screen.getByRole('status').textContent).toContain('responds again now. Try once more.')
})

test('what does not exist here says so, without a request id and without another try', () => {
  const response = new Response(null, { status: 404 })
  const body = { code: 'incident_unknown', detail: 'Unknown incident.', request_id: 'r-1' }
  show(<Failed what="The incident" error={new Problem(body, response)} retry={() => {}} />)
  expect(screen.getByRole('heading', { name: 'Unknown incident' })).toBeTruthy()
  expect(screen.getByText(/belongs to another tenant/)).toBeTruthy()
  expect(screen.queryByRole('button')).toBeNull()
  expect(screen.queryByText('r-1')).toBeNull()
})

test('data that could not be updated say so, unless the header shows that the server is away', () => {
  const refused = new Problem({ status: 422, code: 'selection_repeated', detail: 'Repeated.' }, new Response())
  const shown = (error: Error) => (
    <QueryResult query={{ data: 92.7, error, refetch: vi.fn(), isPlaceholderData: false }} what="run">
      {(share) => <p>{share} %</p>}
    </QueryResult>
  )
  const { rerender } = show(shown(refused))
  expect(screen.getByText('92.7 %')).toBeTruthy()
  expect(screen.getByText('Run could not be updated. What you see is older.')).toBeTruthy()
  expect(screen.getByText('Repeated.')).toBeTruthy()
  rerender(shown(new Unreachable(new TypeError('failed'))))
  expect(screen.queryByText('Run could not be updated. What you see is older.')).toBeNull()
})
