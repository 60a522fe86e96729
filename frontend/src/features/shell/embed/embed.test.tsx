import { expect, test } from 'vitest'
import { bodiesOf, mockApi, recorded, refuse, reply, screen, showPage, userEvent } from '~/testing/page'
import { EmbedDialog } from './EmbedDialog'
import { embedAddress, embedSnippet } from './embedView'

const LINK = recorded('/v1/embed-links', { name: 'Wiki "A"', token: 'sme_secret' }, 'post')
const TARGET = { view: 'heatmap' as const, mesh_id: 'm' }

const open = (target: { view: 'heatmap' | 'overview'; mesh_id: string | undefined } = TARGET) =>
  showPage(
    <EmbedDialog target={target} opened onClose={() => {}} />,
    '/meshes/m?metric=loss&span=1h&cell=1,2&kiosk=true',
  )

test('a link is created for a month, and its frame has the view but not the cursor', async () => {
  const sent = mockApi({
    'GET /v1/embed-links': [],
    'GET /v1/meshes': [],
    'POST /v1/embed-links': () => reply(201, LINK),
  })
  await open()
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name of the link' }), 'Wiki{Enter}')
  const frame = await screen.findByRole('group', { name: 'HTML of the frame' })
  expect(frame.textContent).toContain('/embed?metric=loss&amp;span=1h#sme_secret"')
  expect(frame.textContent).toContain('title="Wiki &quot;A&quot;"')
  const [body] = bodiesOf(sent, 'POST /v1/embed-links') as [{ expires_at: string; view: string; mesh_id: string }]
  expect(body).toMatchObject({ name: 'Wiki', view: 'heatmap', mesh_id: 'm' })
  expect((Date.parse(body.expires_at) - Date.now()) / 86_400_000).toBeCloseTo(30, 1)
})

test('the overview is that of a chosen mesh', async () => {
  const sent = mockApi({
    'GET /v1/embed-links': [],
    'GET /v1/meshes': [
      { id: 'm', name: 'production' },
      { id: 'n', name: 'staging' },
    ],
    'POST /v1/embed-links': () => refuse('name', 'too long'),
  })
  await open({ view: 'overview', mesh_id: undefined })
  await screen.findByRole('option', { name: 'staging' })
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Mesh' }), 'n')
  await userEvent.type(screen.getByRole('textbox', { name: 'Name of the link' }), 'Wiki{Enter}')
  expect(await screen.findByText('too long')).toBeDefined()
  expect(bodiesOf(sent, 'POST /v1/embed-links')).toMatchObject([{ view: 'overview', mesh_id: 'n' }])
})

test('the token comes after "#", where no server and no other site receives it', () => {
  const address = new URL(embedAddress('https://s.example', '?tz=utc&select=x', 'sme_t'))
  expect(address.hash).toBe('#sme_t')
  expect(address.pathname + address.search).toBe('/embed?tz=utc')
  expect(embedSnippet(address.href, 'a"><script>')).not.toContain('<script>')
})
