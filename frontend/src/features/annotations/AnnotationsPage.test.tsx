import { expect, test } from 'vitest'
import { bodiesOf, reply } from '~/testing/api'
import { cellsOf, field, fill, press, recordedItem, screen, userEvent, visitSearch, waitFor } from '~/testing/page'
import { AnnotationsPage } from './AnnotationsPage'
import { type AnnotationsSearch, annotationsSearch } from './search'

const DEPLOY = recordedItem('/v1/annotations', {
  ...{ id: 'd', kind: 'deploy', text: 'web 4.2', starts_at: '2026-11-20T10:00:00.250Z', ends_at: null },
  ...{ mesh_id: 'm', mesh_name: 'production', source: 'CI', url: 'https://ci.example.com/7', version: 3 },
  scope: { vm_ids: ['1', '2'], zone_ids: [], application_ids: [], task_vm_ids: [] },
})
const NOTE = { ...DEPLOY, id: 'n', kind: 'note', text: 'disk replaced', mesh_id: null, mesh_name: null, scope: null }

const open = (more: object, start: AnnotationsSearch = {}) =>
  visitSearch(
    AnnotationsPage,
    annotationsSearch,
    {
      'GET /v1/annotations': [DEPLOY, NOTE],
      'GET /v1/meshes': [{ id: 'm', name: 'production' }],
      'GET /v1/vms': [
        { id: '1', name: 'web-1' },
        { id: '2', name: 'web-2' },
      ],
      'GET /v1/zones': [{ id: 'z', name: 'eu-1a' }],
      ...more,
    },
    start,
    '/?tz=utc',
  )

test('the list names kind, times, mesh, scope and source', async () => {
  await open({})
  const row = await screen.findByRole('row', { name: /web 4\.2/ })
  expect(cellsOf(row)).toContain(' | Deploy | 20 Nov 2026, 10:00:00 UTC |  | production | 2 VMs | CI')
  expect(screen.getByRole('link', { name: 'web 4.2' })).toBeTruthy()
  const everywhere = cellsOf(screen.getByRole('row', { name: /disk replaced/ }))
  expect(everywhere).toContain(' | Note | 20 Nov 2026, 10:00:00 UTC |  | All meshes | All VMs')
})

test('an annotation of a zone is added for the mesh of the page it came from', async () => {
  const { sent } = await open({ 'POST /v1/annotations': () => reply(201, NOTE) }, { add: true, mesh: 'm' })
  await fill(await screen.findByLabelText('Text'), 'switch replaced')
  await userEvent.selectOptions(field('Kind'), 'Maintenance')
  await screen.findByRole('option', { name: 'production' })
  await fill(field('Start (UTC)'), '2026-11-20T10:00:00')
  await fill(field('End (UTC)'), '2026-11-20T11:00:00')
  await userEvent.selectOptions(field('Scope'), 'Zones')
  await press('Save')
  expect(await screen.findByText('Choose at least one.')).toBeTruthy()
  await fill(field('End (UTC)'), '2026-11-20T09:00:00')
  expect(screen.getByText('The end must be after the start.')).toBeTruthy()
  await fill(field('End (UTC)'), '2026-11-20T11:00:00')
  expect(screen.queryByText('The end must be after the start.')).toBeNull()
  await userEvent.click(screen.getByRole('combobox', { name: 'Annotated zones' }))
  await userEvent.click(await screen.findByRole('option', { name: 'eu-1a' }))
  await press('Save')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(bodiesOf(sent, 'POST /v1/annotations')).toEqual([
    {
      kind: 'maintenance',
      text: 'switch replaced',
      starts_at: new Date('2026-11-20T10:00:00').toISOString(),
      ends_at: new Date('2026-11-20T11:00:00').toISOString(),
      mesh_id: 'm',
      scope: { vm_ids: [], zone_ids: ['z'], application_ids: [] },
      url: null,
    },
  ])
})

test('a change keeps what was not touched, and names the version that was read', async () => {
  const { sent } = await open({ 'PATCH /v1/annotations/d': DEPLOY })
  await userEvent.click(await screen.findByRole('button', { name: 'Edit web 4.2' }))
  await userEvent.clear(await screen.findByLabelText('Text'))
  await userEvent.type(field('Text'), 'web 4.3')
  await press('Save')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  const request = sent.find(({ to }) => to === 'PATCH /v1/annotations/d')
  expect(request?.headers.get('If-Match')).toBe('"3"')
  expect(request?.body).toMatchObject({
    text: 'web 4.3',
    starts_at: DEPLOY.starts_at,
    scope: { vm_ids: ['1', '2'] },
    source: 'CI',
  })
})
