import { expect, test, vi } from 'vitest'
import { bodiesOf, mockApi, recordedItem, reply, screen, showPage, userEvent, within } from '~/testing/page'
import { IncidentsPage } from './IncidentsPage'
import { NoteForm } from './NoteForm'

const INCIDENT = recordedItem('/v1/incidents', {
  ...{ id: 'i', title: 'Delay from a-1', severity: 'critical', state: 'open', mesh: { id: 'm', name: 'production' } },
  ...{ paths: 1_200, onset_at: '2026-11-20T23:10:20Z', ended_at: null, worst_path: null },
})

test('incidents are listed with severity, state and extent, each a link to its page', async () => {
  const onShow = vi.fn()
  mockApi({ 'GET /v1/incidents': [INCIDENT] })
  await showPage(<IncidentsPage show="current" onShow={onShow} />)
  const row = within(await screen.findByRole('row', { name: /Delay from a-1/ }))
  expect(row.getByRole('link').getAttribute('href')).toBe('/incidents/i')
  for (const text of ['Critical', 'production', '1 200', 'Ongoing']) expect(row.getByText(text)).toBeTruthy()
  await userEvent.click(screen.getByRole('radio', { name: 'Resolved' }))
  expect(onShow).toHaveBeenCalledWith('resolved')
})

test('the last hour of unresolved incidents is one request a mesh', async () => {
  const end = (name: string) => ({ id: name, name })
  const path = { metric: 'one_way_delay', statistic: 'p50', source: end('v1'), target: end('v2'), usual: 20_000 }
  const rows = [
    { ...INCIDENT, worst_path: path },
    { ...INCIDENT, id: 'j', worst_path: { ...path, metric: 'loss', target: end('v3') } },
    { ...INCIDENT, id: 'k', state: 'resolved', worst_path: path },
  ]
  const item = (selection: string) => ({ selection, values: { p50: [20_000, 400_000] }, loss: [0, 0.5] })
  const series = { points_at: ['2026-11-20T23:09:00Z', '2026-11-20T23:10:00Z'] }
  const sent = mockApi({
    'GET /v1/incidents': rows,
    'GET /v1/meshes/m/series': { ...series, items: [item('path:v1:v2'), item('path:v1:v3')] },
  })
  await showPage(<IncidentsPage show="all" onShow={() => undefined} />)
  expect(await screen.findByRole('img', { name: 'Delay of v1 → v2 in the last hour' })).toBeTruthy()
  expect(screen.getAllByRole('img', { name: /in the last hour$/ })).toHaveLength(2)
  const asked = sent.filter(({ to }) => to === 'GET /v1/meshes/m/series')
  expect(asked.map(({ query }) => query.getAll('selections'))).toEqual([['path:v1:v2', 'path:v1:v3']])
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
  const sent = mockApi({ 'POST /v1/incidents/i/notes': () => reply(201, {}) })
  await showPage(<NoteForm incidentId="i" />)
  await userEvent.type(screen.getByLabelText('Note'), ' Held for an inspection. ')
  await userEvent.click(screen.getByRole('button', { name: 'Add note' }))
  expect(JSON.stringify(bodiesOf(sent, 'POST /v1/incidents/i/notes'))).toContain('"Held for an inspection."')
  await expect.poll(() => screen.getByLabelText<HTMLInputElement>('Note').value).toBe('')
})
