import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, onTestFinished, test } from 'vitest'
import { focusPages } from './pageFocus'

/** A page that is loaded once its button is pressed: the test decides when, not the speed of the machine. */
const loading = (name: string, before: React.ReactNode) =>
  function Loading() {
    const [loaded, setLoaded] = useState(false)
    return (
      <>
        {loaded ? <h1 key="loaded">{name}</h1> : before}
        <button type="button" onClick={() => setLoaded(true)}>
          Load
        </button>
      </>
    )
  }

async function open() {
  const root = createRootRoute({
    component: () => (
      <>
        <Link to="/">Home</Link> <Link to={'/late' as '/'}>Late</Link> <Link to={'/form' as '/'}>Form</Link>{' '}
        <Link to={'/loading' as '/'}>Loading</Link>
        <main>
          <Outlet />
        </main>
      </>
    ),
  })
  const page = (path: string, component: () => React.ReactNode) =>
    createRoute({ getParentRoute: () => root, path, component })
  const routeTree = root.addChildren([
    page('/', () => (
      <>
        <h1>Home</h1>
        {/* biome-ignore lint/a11y/useSemanticElements: as the heatmap has it */}
        <div role="grid" tabIndex={0} data-return-focus="" />
      </>
    )),
    page('/late', loading('Late', null)),
    page('/loading', loading('Loaded', <h1>Loading</h1>)),
    page('/form', () => (
      <>
        <h1>Form</h1>
        {/* biome-ignore lint/a11y/noAutofocus: the case of the test */}
        <input autoFocus />
      </>
    )),
  ])
  const router = createRouter({ routeTree, history: createMemoryHistory({ initialEntries: ['/'] }) })
  onTestFinished(focusPages(router))
  render(<RouterProvider router={router as never} />)
  await screen.findByRole('heading', { name: 'Home' })
  return router
}

const go = (name: string) => userEvent.click(screen.getByRole('link', { name }))
const focused = () => document.activeElement
/** Let the page have its heading; unlike a click of the user, this moves no focus. */
const load = async () => fireEvent.click(await screen.findByRole('button', { name: 'Load' }))

test('the first page leaves the focus to the browser', async () => {
  await open()
  expect(focused()).toBe(document.body)
})

test.each([
  ['Late', 'main', '', 'Late'],
  ['Loading', 'heading', 'Loading', 'Loaded'],
])('after a navigation to %s the %s has the focus, then the heading that comes later', async (to, role, name, then) => {
  await open()
  await go(to)
  await waitFor(() => expect(focused()).toBe(screen.getByRole(role, { name })))
  await load()
  await waitFor(() => expect(focused()).toBe(screen.getByRole('heading', { name: then })))
})

test('a heading that appears late does not take the focus from a person who has moved on', async () => {
  await open()
  await go('Late')
  await waitFor(() => expect(focused()).toBe(screen.getByRole('main')))
  screen.getByRole('link', { name: 'Form' }).focus()
  await load()
  await screen.findByRole('heading', { name: 'Late' })
  expect(focused()).toBe(screen.getByRole('link', { name: 'Form' }))
})

test('a field that takes the focus itself keeps it', async () => {
  await open()
  await go('Form')
  await screen.findByRole('heading', { name: 'Form' })
  await waitFor(() => expect(focused()).toBe(screen.getByRole('textbox')))
})

test('after Back the grid has the focus again, after a link to it the heading', async () => {
  const router = await open()
  const leave = async () => {
    await go('Late')
    await load()
    await screen.findByRole('heading', { name: 'Late' })
  }
  await leave()
  router.history.back()
  await waitFor(() => expect(focused()).toBe(screen.getByRole('grid')))
  await leave()
  await go('Home')
  await waitFor(() => expect(focused()).toBe(screen.getByRole('heading', { name: 'Home' })))
})
