import { expect, test, vi } from 'vitest'
import { bodiesOf, mockApi, recordedItem, reply, screen, showPage, userEvent, visit, within } from '~/testing/page'
import { IncidentsPage } from './IncidentsPage'
import { NoteForm } from './NoteForm'

const INCIDENT = recordedItem('/v1/incidents', {
  ...{ id: 'i', title: 'Delay from a-1', severity: 'critical', state: 'open', mesh: { id: 'm', name: 'production' } },
  ...{ paths: 1_200, onset_at: '2026-11-20T23:10:20Z', ended_at: null, worst_path: null },
})

test('incidents are listed with severity, state and extent, each a link to its page', async () => {
  const onShow = vi.fn()
  await visit(<IncidentsPage show="current" onShow={onShow} />, { 'GET /v1/incidents': [INCIDENT] })
  const row = within(await screen.findByRole('row', { name: /Delay from a-1/ }))
  expect(row.getByRole('link').getAttribute('href')).toBe('/incidents/i')
  for (const text of ['Critical', 'production', '1 200', 'Ongoing']) expect(row.getByText(text)).toBeTruthy()
  await userEvent.click(screen.getByRole('radio', { name: 'Resolved' }))
  expect(onShow).toHaveBeenCalledWith('resolved')
})

test.each([
  [[], 'Nothing is measured yet, so no incident can open.', 'Add a VM'],
  [[{ ended_at: null }], 'Nothing is measured yet, so no incident can open.', 'Add a VM'],
  [
    [{ ended_at: '2026-11-20T23:10:20Z' }, { ended_at: null }],
    'No open incidents.',
    'See the alert rules that open them',
  ],
])('an empty list says whether anything is watched (%#)', async (meshes, words, next) => {
  mockApi({ 'GET /v1/incidents': [], 'GET /v1/overview': { meshes } })
  await showPage(<IncidentsPage show="current" onShow={() => {}} />)
  expect((await screen.findByText(words, { exact: false })).textContent).toBe(`${words} ${next}`)
})

test('a note is added and the field is empty again', async () => {
  const { sent } = await visit(<NoteForm incidentId="i" />, { 'POST /v1/incidents/i/notes': () => reply(201, {}) })
  await userEvent.type(screen.getByLabelText('Note'), ' Held for an inspection. ')
  await userEvent.click(screen.getByRole('button', { name: 'Add note' }))
  expect(JSON.stringify(bodiesOf(sent, 'POST /v1/incidents/i/notes'))).toContain('"Held for an inspection."')
  await expect.poll(() => screen.getByLabelText<HTMLInputElement>('Note').value).toBe('')
})
