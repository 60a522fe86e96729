import { expect, test, vi } from 'vitest'
import { mockApi, screen, showPage, userEvent } from '~/testing/page'
import { EmbedPage } from './EmbedPage'

const EMBED = { name: 'Wiki', view: 'heatmap', mesh: { id: 'm', name: 'production', window_s: 10 } }

const open = (hasToken = true) =>
  showPage(
    <EmbedPage hasToken={hasToken} freshness="fresh">
      {({ mesh }) => <a href="/vms">{mesh.name}</a>}
    </EmbedPage>,
    '/embed',
  )

test('a view is shown, and its links open outside the frame', async () => {
  mockApi({ 'GET /v1/embed': EMBED })
  const opened = vi.spyOn(window, 'open').mockReturnValue(null)
  const router = await open()
  await userEvent.click(await screen.findByRole('link', { name: 'production' }))
  expect(opened).toHaveBeenCalledWith(expect.stringMatching(/\/vms$/), '_blank', 'noopener,noreferrer')
  expect(router.state.location.pathname).toBe('/embed')
})

test('an address without its token says what is missing', async () => {
  const sent = mockApi({})
  await open(false)
  expect(screen.getByRole('heading', { name: 'This address is incomplete' })).toBeDefined()
  expect(sent).toEqual([])
})
