// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import type { ReactNode } from 'react'
import { describe, expect, test } from 'vitest'
import { fail, hang, mockApi } from '~/testing/api'
import { showPage } from '~/testing/render'
import { IncidentsPage } from './alerts/incidents/IncidentsPage'
import { ReceiversPage } from './alerts/receivers/ReceiversPage'
import { RulesPage } from './alerts/rules/RulesPage'
import { SilencesPage } from './alerts/silences/SilencesPage'
import { AnnotationsPage } from './annotations/AnnotationsPage'
import { ApplicationsPage } from './applications/ApplicationsPage'
import { MeshesPage } from './inventory/MeshesPage'
import { VmsPage } from './inventory/VmsPage'
import { ZonesPage } from './inventory/ZonesPage'
import { JobsPage } from './jobs/JobsPage'
import { RecommendationsPage } from './recommendations/RecommendationsPage'
import { ApiKeysPage } from './settings/ApiKeysPage'
import { UsagePage } from './settings/UsagePage'
import { SimulationsPage } from './simulations/SimulationsPage'

const nothing = () => {}

interface List {
  title: string
  page: ReactNode
  /** The request for its rows. */
  request: string
  /** The text of an empty list. */
  empty: RegExp
  /** The next step: a link, or a button. */
  next: string
}

const LISTS: List[] = [
  {
    title: 'Receivers',
    page: <ReceiversPage />,
    request: 'GET /v1/receivers',
    empty: /^No receivers yet/,
    next: 'New receiver',
  },
  {
    title: 'Silences',
    page: <SilencesPage />,
    request: 'GET /v1/silences',
    empty: /^No silences yet/,
    next: 'New silence',
  },
  {
    title: 'Alert rules',
    page: <RulesPage mesh="m" onMesh={nothing} />,
    request: 'GET /v1/alert-rules',
    empty: /^No rules yet/,
    next: 'Create a rule',
  },
  {
    title: 'Annotations',
    page: <AnnotationsPage search={{}} onSearch={nothing} />,
    request: 'GET /v1/annotations',
    empty: /^No annotations yet/,
    next: 'Add annotation',
  },
  {
    title: 'Applications',
    page: <ApplicationsPage />,
    request: 'GET /v1/applications',
    empty: /^Add an application/,
    next: 'Add application',
  },
  {
    title: 'Incidents',
    page: <IncidentsPage show="all" onShow={nothing} />,
    request: 'GET /v1/incidents',
    empty: /^No incidents yet/,
    next: 'See the alert rules that open them',
  },
  { title: 'Meshes', page: <MeshesPage />, request: 'GET /v1/meshes', empty: /Create one to start/, next: 'New mesh' },
  {
    title: 'VMs',
    page: <VmsPage />,
    request: 'GET /v1/vms',
    empty: /^Run one command on each machine/,
    next: 'Add a VM',
  },
  { title: 'Zones', page: <ZonesPage />, request: 'GET /v1/zones', empty: /^No zones yet/, next: 'Add a VM' },
  { title: 'Jobs', page: <JobsPage />, request: 'GET /v1/jobs', empty: /appear here/, next: 'Find better placements' },
  {
    title: 'Recommendations',
    page: <RecommendationsPage />,
    request: 'GET /v1/recommendations',
    empty: /^No recommendations yet/,
    next: 'application',
  },
  {
    title: 'API keys',
    page: <ApiKeysPage />,
    request: 'GET /v1/api-keys',
    empty: /^No API keys yet/,
    next: 'New key',
  },
  {
    title: 'Usage',
    page: <UsagePage />,
    request: 'GET /v1/usage',
    empty: /^No pinned ranges yet/,
    next: 'Choose a mesh',
  },
  {
    title: 'Simulations',
    page: <SimulationsPage />,
    request: 'GET /v1/simulations',
    empty: /^A simulation runs a cluster/,
    next: 'API key',
  },
]

const EMPTY = {
  ...Object.fromEntries(LISTS.map(({ request }) => [request, []])),
  'GET /v1/deliveries': [],
  'GET /v1/aged-measurements': { after_days: 0, items: [], run: null },
  'GET /v1/alert-routes': { root: { matchers: [], receivers: [], routes: [] } },
  'GET /v1/agents': [],
  'GET /v1/pins': [],
  'GET /v1/recommendations/accuracy': { applied: 0, verified: 0 },
}

const MESH = { id: 'm', name: 'production', window_s: 10, rate_hz: 8, vm_count: 2 }

describe.each(LISTS)('$title', ({ title, page, request, empty, next }) => {
  const responses = request === 'GET /v1/alert-rules' ? { ...EMPTY, 'GET /v1/meshes': [MESH] } : EMPTY

  test('an empty list names the next step', async () => {
    mockApi(responses)
    await showPage(page)
    expect(await screen.findByText(empty)).toBeTruthy()
    const main = () => screen.queryByRole('link', { name: next }) ?? screen.getByRole('button', { name: next })
    await waitFor(() => expect(main()).toBeTruthy())
    expect(screen.queryByRole('alert')).toBeNull()
    expect(screen.queryByText(/^Loading/)).toBeNull()
  })

  test('a loading list names its subject', async () => {
    mockApi({ ...responses, [request]: hang })
    await showPage(page)
    expect((await screen.findByRole('status')).textContent).toMatch(/^Loading .+…$/)
  })

  test('failed, it gives the reason and tries again', async () => {
    let failures = 1
    mockApi({
      ...responses,
      [request]: () =>
        failures-- > 0 ? fail(500, 'Out of disk.') : new Response('{"items": [], "next_cursor": null}'),
    })
    await showPage(page)
    const alert = await screen.findByRole('alert')
    expect(alert.textContent).toContain(`${title} could not be loaded`)
    expect(alert.textContent).toContain('Out of disk.')
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText(empty)).toBeTruthy()
  })
})
