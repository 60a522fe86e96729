import { expect, test } from 'vitest'
import { type Answers, bodiesOf, reply, screen, userEvent, visit, waitFor, within } from '~/testing/page'
import { SavedViews } from './SavedViews'

const VIEW = { id: 'w', name: 'Loss today', address: '/meshes/m?metric=loss', created_by: 'ada@example.org' }

async function open(answers: Answers, address?: string) {
  const visited = await visit(<SavedViews />, answers, address)
  await userEvent.click(screen.getByRole('button', { name: 'Saved views' }))
  return { ...visited, menu: within(await screen.findByRole('dialog')) }
}

test('a page is saved under a name, with its filters', async () => {
  const answers = { 'GET /v1/saved-views': [], 'POST /v1/saved-views': () => reply(201, VIEW) }
  const { sent, menu } = await open(answers, '/meshes/m?metric=loss&span=6h')
  await userEvent.type(menu.getByRole('textbox', { name: /^Save this page as/ }), ' Loss today {Enter}')
  await waitFor(() =>
    expect(bodiesOf(sent, 'POST /v1/saved-views')).toEqual([
      { name: 'Loss today', address: '/meshes/m?metric=loss&span=6h' },
    ]),
  )
})

test('a saved view is opened and deleted', async () => {
  const answers = { 'GET /v1/saved-views': [VIEW], 'DELETE /v1/saved-views/w': () => reply(204) }
  const { sent, router, menu } = await open(answers)
  await userEvent.click(await menu.findByRole('button', { name: 'Delete the view Loss today' }))
  await waitFor(() => expect(sent.map(({ to }) => to)).toContain('DELETE /v1/saved-views/w'))
  await userEvent.click(menu.getByRole('link', { name: 'Loss today' }))
  await waitFor(() => expect(router.state.location.href).toBe('/meshes/m?metric=loss'))
})
