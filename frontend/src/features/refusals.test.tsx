import type { ReactNode } from 'react'
import { expect, test } from 'vitest'
import type { Mesh } from '~/api/types'
import { fill, refuse, screen, userEvent, visit } from '~/testing/page'
import { NewReceiver } from './alerts/receivers/NewReceiver'
import { RuleEditor } from './alerts/rules/RuleEditor'
import { NewSilence } from './alerts/silences/NewSilence'
import { AnnotationsPage } from './annotations/AnnotationsPage'
import { NewMaster } from './inventory/NewMaster'
import { VmCapacity } from './inventory/VmCapacity'
import { ZonesPage } from './inventory/ZonesPage'
import { MembersPage } from './members/MembersPage'
import { MetricExportsPage } from './metric-exports/MetricExportsPage'
import { MeshStep } from './onboarding/MeshStep'
import { ApiKeysPage } from './settings/ApiKeysPage'

const nothing = () => {}
const MESH = { id: 'm', name: 'production', window_s: 10 } as Mesh

/** The form, the button that opens it, the one that sends it, the request, and the refused field with its label. */
const FORMS: [form: ReactNode, opens: string, sends: string, to: string, field: string, label: string][] = [
  [<NewReceiver key="r" onDone={nothing} />, '', 'Add receiver', 'POST /v1/receivers', 'settings/url', 'URL'],
  [<RuleEditor key="u" meshId="m" />, '', 'Create rule', 'POST /v1/alert-rules', 'name', 'Name'],
  [<NewSilence key="s" onDone={nothing} />, '', 'Create silence', 'POST /v1/silences', 'comment', 'Reason'],
  [
    <AnnotationsPage key="a" search={{ add: true }} onSearch={nothing} />,
    ...(['', 'Save', 'POST /v1/annotations', 'ends_at', 'End (UTC)'] as const),
  ],
  [
    <MetricExportsPage key="e" />,
    ...(['New metric export', 'Add export', 'POST /v1/metric-exports', 'url', 'URL'] as const),
  ],
  [<ZonesPage key="z" />, 'Add a zone', 'Add', 'POST /v1/zones', 'region', 'Region'],
  [<NewMaster key="p" onDone={nothing} />, '', 'Add', 'POST /v1/vms', 'probe_address', 'Address'],
  [<VmCapacity key="c" vmId="v" />, ...(['', 'Save capacity', 'PATCH /v1/vms/v/capacity', 'host', 'Host'] as const)],
  [
    <MeshStep key="m" meshes={[MESH]} mesh={MESH} onMesh={nothing} />,
    ...(['New mesh', 'Create mesh', 'POST /v1/meshes', 'window_s', 'Window (s)'] as const),
  ],
  [<ApiKeysPage key="k" />, 'New key', 'Create key', 'POST /v1/api-keys', 'name', 'Name'],
  [<MembersPage key="i" />, 'Invite a person', 'Send invitation', 'POST /v1/invitations', 'email', 'E-mail'],
]

const ANSWERS = {
  'GET /v1/alert-routes': { root: { receivers: [] } },
  'GET /v1/annotations': [],
  'GET /v1/api-keys': [],
  'GET /v1/applications': [],
  'GET /v1/metric-exports': [],
  'GET /v1/invitations': [],
  'GET /v1/members': [],
  'GET /v1/meshes': [MESH],
  'GET /v1/meshes/m': MESH,
  'GET /v1/meshes/m/roster': { vms: [], zones: [] },
  'GET /v1/vms': [],
  'GET /v1/vms/v/capacity': { vm: { id: 'v', name: 'web-1' }, slots: 4, slots_taken: 3, memory_mib: 8192 },
  'GET /v1/zones': [{ id: 'z', name: 'eu-1a' }],
}

test.each(FORMS)('a form that is refused keeps what was typed, and its field has the reason (%#)', async (...form) => {
  const [page, opens, sends, to, field, label] = form
  await visit(page, { ...ANSWERS, [to]: () => refuse(field, 'Refused by the test.') }, '/?tz=utc')
  if (opens) await userEvent.click(await screen.findByRole('button', { name: opens }))
  const button = await screen.findByRole('button', { name: sends })
  const typed = () =>
    [...document.querySelectorAll<HTMLInputElement>('form input, form textarea')].map((one) => one.value)
  for (const empty of document.querySelectorAll<HTMLInputElement>(
    'form :is(input, textarea):is([required], [name=host])',
  )) {
    if (!empty.value) await fill(empty, { email: 'ada@example.com', url: 'https://x.example' }[empty.type] ?? 'typed')
  }
  const before = typed()
  await userEvent.click(button)
  expect(await screen.findByText('Refused by the test.')).toBeTruthy()
  const wrong = [...document.querySelectorAll<HTMLInputElement>('[aria-invalid="true"]')]
  expect(wrong.map(({ labels }) => labels?.[0]?.textContent?.replace(' *', ''))).toEqual([label])
  expect(typed()).toEqual(before)
  expect(before.some((text) => text !== '')).toBe(true)
})
