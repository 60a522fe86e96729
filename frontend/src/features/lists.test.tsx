import type { ReactNode } from 'react'
import { expect, test } from 'vitest'
import { fail, reply, screen, userEvent, visit, waitFor } from '~/testing/page'
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

/** Title, page, the request for its rows, the text of the empty list, and the next step: a link, or a button. */
const LISTS: [title: string, page: () => ReactNode, request: string, empty: RegExp, next: string][] = [
  ['Receivers', () => <ReceiversPage />, 'GET /v1/receivers', /^No receivers yet/, 'New receiver'],
  ['Silences', () => <SilencesPage />, 'GET /v1/silences', /^No silences yet/, 'New silence'],
  [
    'Alert rules',
    () => <RulesPage mesh="m" onMesh={nothing} />,
    'GET /v1/alert-rules',
    /^No rules yet/,
    'Create a rule',
  ],
  [
    'Annotations',
    () => <AnnotationsPage search={{}} onSearch={nothing} />,
    'GET /v1/annotations',
    /^No annotations yet/,
    'Add annotation',
  ],
  ['Applications', () => <ApplicationsPage />, 'GET /v1/applications', /^Add an application/, 'Add application'],
  [
    'Incidents',
    () => <IncidentsPage show="all" onShow={nothing} />,
    'GET /v1/incidents',
    /^No incidents yet/,
    'See the alert rules that open them',
  ],
  ['Meshes', () => <MeshesPage />, 'GET /v1/meshes', /Create one to start/, 'New mesh'],
  ['VMs', () => <VmsPage />, 'GET /v1/vms', /^Run one command on each machine/, 'Add a VM'],
  ['Zones', () => <ZonesPage />, 'GET /v1/zones', /^No zones yet/, 'Add a VM'],
  ['Jobs', () => <JobsPage />, 'GET /v1/jobs', /appear here/, 'Find better placements'],
  [
    'Recommendations',
    () => <RecommendationsPage />,
    'GET /v1/recommendations',
    /^No recommendations yet/,
    'application',
  ],
  ['API keys', () => <ApiKeysPage />, 'GET /v1/api-keys', /^No API keys yet/, 'New key'],
  ['Usage', () => <UsagePage />, 'GET /v1/usage', /^No pinned ranges yet/, 'Choose a mesh'],
  ['Simulations', () => <SimulationsPage />, 'GET /v1/simulations', /^A simulation runs a cluster/, 'API key'],
]

const EMPTY = {
  ...Object.fromEntries(LISTS.map(([, , request]) => [request, []])),
  'GET /v1/deliveries': [],
  'GET /v1/aged-measurements': { after_days: 0, items: [], run: null },
  'GET /v1/alert-routes': { root: { matchers: [], receivers: [], routes: [] } },
  'GET /v1/agents': [],
  'GET /v1/pins': [],
  'GET /v1/recommendations/accuracy': { applied: 0, verified: 0 },
}

const MESH = { id: 'm', name: 'production', window_s: 10, rate_hz: 8, vm_count: 2 }

test.each(LISTS)('%s loads, fails with the reason, and empty names the next step', async (...list) => {
  const [title, page, request, empty, next] = list
  const first = Promise.withResolvers<void>()
  let hasFailed = false
  await visit(page(), {
    ...EMPTY,
    ...(request === 'GET /v1/alert-rules' && { 'GET /v1/meshes': [MESH] }),
    [request]: () =>
      hasFailed ? reply(200, { items: [], next_cursor: null }) : first.promise.then(() => fail(500, 'Out of disk.')),
  })
  expect((await screen.findByRole('status')).textContent).toMatch(/^Loading .+…$/)
  first.resolve()
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain(`${title} could not be loaded`)
  expect(alert.textContent).toContain('Out of disk.')

  hasFailed = true
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
  expect(await screen.findByText(empty)).toBeTruthy()
  const main = () => screen.queryByRole('link', { name: next }) ?? screen.getByRole('button', { name: next })
  await waitFor(() => expect(main()).toBeTruthy())
  expect(screen.queryByRole('alert')).toBeNull()
  expect(screen.queryByText(/^Loading/)).toBeNull()
})
