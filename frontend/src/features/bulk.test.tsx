import type { ReactNode } from 'react'
import { expect, test } from 'vitest'
import { fail, recordedItem, reply, screen, userEvent, visit, within } from '~/testing/page'
import { IncidentsPage } from './alerts/incidents/IncidentsPage'
import { ReceiversPage } from './alerts/receivers/ReceiversPage'
import { RulesPage } from './alerts/rules/RulesPage'
import { SilencesPage } from './alerts/silences/SilencesPage'
import { AnnotationsPage } from './annotations/AnnotationsPage'
import { MeshesPage } from './inventory/MeshesPage'
import { VmsPage } from './inventory/VmsPage'
import { ZonesPage } from './inventory/ZonesPage'
import { RecommendationsPage } from './recommendations/RecommendationsPage'
import { ApiKeysPage } from './settings/ApiKeysPage'
import { SimulationsPage } from './simulations/SimulationsPage'

const nothing = () => {}
const AT = '2026-11-20T10:00:00Z'
const NEVER = '2999-01-01T00:00:00Z'
const MESH = { id: 'm', name: 'production', window_s: 10, rate_hz: 8, vm_count: 2 }
const ZONE = { id: 'z', name: 'eu-1a', region: 'eu-1', provider: 'aws', physical_id: null }
const agent = (status: string) => ({ id: 'agent', status, agent_version: '1.0', last_report_at: AT })

interface Case {
  page: ReactNode
  /** The request for the rows, and what two of them share. */
  list: string
  row: object
  action: string
  /** What is sent for the row "one". */
  sent: string
  body?: unknown
  ifMatch?: string
  more?: Record<string, object>
}

/** Return the case of rows that are deleted, or ended, at their own address. */
const deletes = (page: ReactNode, path: string, row: object, more: Partial<Case> = {}): Case => ({
  ...{ page, list: `GET ${path}`, row, action: 'Delete', sent: `DELETE ${path}/one` },
  ...more,
})

const VM = { zone: ZONE, labels: {}, probe_address: null, responder: 'agent', agent: null }
const SILENCE = { matchers: [], ends_at: NEVER, active: true, weekly: null, created_by: 'ada' }
const NOTE = { kind: 'note', starts_at: AT, ends_at: null, mesh_name: null, scope: null, source: 'ada', url: null }
const KEY = { prefix: 'sm_abc', scopes: ['read'], created_at: AT, expires_at: NEVER }
const SIMULATION = { world: { machines: 2, seconds: 60 }, policies: [], created_at: AT }

const CASES: Case[] = [
  deletes(<VmsPage />, '/v1/vms', VM, { more: { 'GET /v1/agents': [] } }),
  {
    page: <VmsPage />,
    list: 'GET /v1/vms',
    row: { ...VM, agent: agent('reporting') },
    action: 'Revoke agents',
    sent: 'POST /v1/agents/agent/revoke',
    more: { 'GET /v1/agents': [] },
  },
  deletes(<MeshesPage />, '/v1/meshes', MESH),
  deletes(<ZonesPage />, '/v1/zones', ZONE, { more: { 'GET /v1/vms': [] } }),
  ...(['Enable', 'Disable'] as const).map(
    (action): Case => ({
      page: <RulesPage mesh="m" onMesh={nothing} />,
      list: 'GET /v1/alert-rules',
      row: recordedItem('/v1/alert-rules', { enabled: action === 'Disable', version: 4 }),
      action,
      sent: 'PATCH /v1/alert-rules/one',
      body: { enabled: action === 'Enable' },
      ifMatch: '"4"',
      more: { 'GET /v1/meshes': [MESH] },
    }),
  ),
  deletes(<SilencesPage />, '/v1/silences', SILENCE, { action: 'End' }),
  deletes(<ReceiversPage />, '/v1/receivers', recordedItem('/v1/receivers'), {
    more: {
      'GET /v1/deliveries': [],
      'GET /v1/alert-routes': { root: { matchers: [], receivers: [], routes: [] } },
    },
  }),
  deletes(<AnnotationsPage search={{}} onSearch={nothing} />, '/v1/annotations', NOTE),
  {
    page: <IncidentsPage show="current" onShow={nothing} />,
    list: 'GET /v1/incidents',
    row: { severity: 'critical', state: 'open', mesh: MESH, paths: 1, onset_at: AT, ended_at: null, assignee: null },
    action: 'Acknowledge',
    sent: 'POST /v1/incidents/one/acknowledge',
    body: { text: '' },
    ifMatch: '*',
  },
  {
    page: <RecommendationsPage />,
    list: 'GET /v1/recommendations',
    row: { created_at: AT, mesh: MESH, moves: 2, total: null, state: 'proposed', trigger: 'schedule', version: 7 },
    action: 'Dismiss',
    sent: 'POST /v1/recommendations/one/dismiss',
    body: { reason: '' },
    ifMatch: '"7"',
    more: { 'GET /v1/meshes': [MESH], 'GET /v1/recommendations/accuracy': { applied: 0, verified: 0 } },
  },
  deletes(<ApiKeysPage />, '/v1/api-keys', KEY),
  deletes(<SimulationsPage />, '/v1/simulations', SIMULATION),
]

/** Actions that start at once; the others ask for a confirmation. */
const UNDOABLE = ['Enable', 'Disable', 'Acknowledge']

/** The fields that name a row, whatever its kind. */
const named = (id: string) => ({ id, name: id, title: id, comment: id, text: id })

test.each(CASES)(
  'several rows at once: $action, $sent',
  async ({ page, list, row, action, sent: to, body, ifMatch, more }) => {
    const user = userEvent.setup()
    const other = to.replace('/one', '/two')
    const isOne = other === to
    const { sent } = await visit(page, {
      ...more,
      [list]: [
        { ...row, ...named('one') },
        { ...row, ...named('two') },
      ],
      [other]: () => fail(409, 'It is in use.'),
      [to]: () => reply(200, {}),
    })
    await user.click(await screen.findByRole('checkbox', { name: 'Select all on this page' }))
    const bar = within(screen.getByRole('region', { name: 'Selected rows' }))
    await user.click(bar.getByRole('button', { name: action }))
    if (!UNDOABLE.includes(action)) {
      const dialog = within(await screen.findByRole('dialog'))
      expect(dialog.getAllByRole('listitem')).toHaveLength(2)
      await user.click(dialog.getByRole('button', { name: new RegExp(`^${action}: 2 `) }))
    }
    expect(await bar.findByText(new RegExp(`^${action}: ${isOne ? 2 : 1} of 2 `))).toBeTruthy()
    const request = sent.find((one) => one.to === to)
    if (body) expect(request?.body).toEqual(body)
    if (ifMatch) expect(request?.headers.get('If-Match')).toBe(ifMatch)
    if (isOne) return
    expect(bar.getByRole('listitem').textContent).toMatch(/: It is in use\.$/)
    expect(bar.getByText(/^1 .* selected$/)).toBeTruthy()
    // The list is read once, after the last row.
    const last = sent.findLastIndex((one) => one.to === to || one.to === other)
    expect(sent.slice(last).filter((one) => one.to === list)).toHaveLength(1)
    expect(sent.slice(sent.indexOf(request as never), last).filter((one) => one.to === list)).toHaveLength(0)
  },
)
