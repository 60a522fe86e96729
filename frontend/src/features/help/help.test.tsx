import { contents, load } from 'virtual:help'
import { expect, test } from 'vitest'
import { fireEvent, screen, showPage, waitFor } from '~/testing/page'
import { Term } from '~/ui/Term'
import { HelpPage } from './HelpPage'

const routes = import.meta.glob<string>('../../routes/*.tsx', { query: '?raw', import: 'default', eager: true })
const targets = Object.values(routes).flatMap((source) =>
  [...source.matchAll(/help: '([^']+)'/g)].map(([, target]) => target as string),
)

test('every page links to a section of the help that exists', async () => {
  expect(targets.length).toBeGreaterThan(25)
  for (const target of targets) {
    const [name = '', section] = target.split('#')
    const page = (await load[name]?.())?.default
    expect(page, target).toBeDefined()
    if (section) expect(page?.html, target).toContain(`id="${section}"`)
  }
})

test('every link between pages of the help leads to a page and a section', async () => {
  for (const { name } of contents) {
    const html = (await load[name]?.())?.default.html ?? ''
    for (const [, to = '', section] of html.matchAll(/href="\/help\/([^"#]+)(?:#([^"]+))?"/g)) {
      const page = (await load[to]?.())?.default
      expect(page, `${name} → ${to}`).toBeDefined()
      if (section) expect(page?.html, `${name} → ${to}#${section}`).toContain(`id="${section}"`)
    }
  }
})

test('a link inside the text opens the page without loading the console again', async () => {
  const page = { title: 'Agent', html: '<h1>Agent</h1><a href="/help/alerts#rules">rules</a>', sections: [] }
  const router = await showPage(<HelpPage name="agent" page={page} />)
  expect(screen.getByRole('link', { name: 'Alerts' })).toBeTruthy()
  fireEvent.click(screen.getByRole('link', { name: 'rules' }))
  await waitFor(() => expect(router.state.location).toMatchObject({ pathname: '/help/alerts', hash: 'rules' }))
})

test('a term shows its meaning and its standard', async () => {
  await showPage(<Term>Clock error</Term>)
  fireEvent.focus(screen.getByText('Clock error'))
  expect(await screen.findByText(/^Bound on .* one-way delay \(RFC 7679, 3.7\)$/)).toBeTruthy()
})

test('every term that a page explains is in the glossary', async () => {
  const { default: terms } = await import('virtual:glossary')
  const sources = import.meta.glob<string>('../../{features,ui}/**/*.tsx', {
    query: '?raw',
    import: 'default',
    eager: true,
  })
  const used = Object.values(sources).flatMap((source) =>
    [...source.matchAll(/(?:<Term of="|\bterm="|\bterm: ')([^"']+)["']/g)].map(([, term]) => term as string),
  )
  expect(used.length).toBeGreaterThan(40)
  for (const term of used) expect(terms[term.toLowerCase()], term).toBeDefined()
})
