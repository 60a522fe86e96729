import { expect, test } from 'vitest'
import { bodiesOf, mockApi, recorded, screen, showPage, userEvent, visit, within } from '~/testing/page'
import { NewApplicationPage } from './NewApplicationPage'
import { TrafficPage } from './TrafficPage'

const KEY = '0123456789abcdef'
const vm = (id: string) => ({ id, key: 1, name: `vm-${id}` })
const proposal = (key: string, state: string, servers: string[], clients: string[]) => ({
  ...{ ...recorded('/v1/meshes/{mesh_id}/traffic-proposals').items[0], key, state, application: null },
  ...{ name: `cache ${key.slice(0, 1)}`, curve: 'memcached-server', shape: servers.length > 1 ? 'graph' : 'star' },
  servers: servers.map(vm),
  clients: clients.map(vm),
  links: servers.flatMap((server) =>
    clients.map((client) => ({ client_vm_id: client, server_vm_id: server, share: 0.5 })),
  ),
})
const traffic = (items: object[], more = {}) => ({
  ...{ counted: true, vms: 4, vms_counted: 3, connections_left_out: 0 },
  ...{ elsewhere: 0.38, elsewhere_vms: [{ vm: vm('a'), share: 0.9 }] },
  items,
  ...more,
})
const ANSWERS = {
  'GET /v1/meshes': [{ id: 'm', name: 'production' }],
  'GET /v1/meshes/m/roster': { vms: ['a', 'b', 'c'].map(vm), zones: [] },
  'GET /v1/curves': [{ id: 'memcached-server', name: 'Memcached, server', origin: 'published' }],
}
const STAR = proposal(KEY, 'open', ['a'], ['b', 'c'])
const show = (found: object) => {
  mockApi({ ...ANSWERS, 'GET /v1/meshes/m/traffic-proposals': found })
  return showPage(<TrafficPage mesh={undefined} onMesh={() => {}} />)
}

test('proposals lead to the form, with a map of their links and what is not seen', async () => {
  await show(traffic([STAR, proposal('1'.repeat(16), 'everywhere', ['c'], ['a'])]))
  const add = await screen.findByRole('link', { name: 'Add…' })
  expect(add.getAttribute('href')).toContain('/applications/new?mesh=m&proposals=')
  expect(screen.getByRole('img', { name: 'cache 0: 2 links, 0 changed from usual' })).toBeTruthy()
  expect(screen.queryByRole('img', { name: /cache 1/ })).toBeNull()
  expect(screen.getByText(/38.0 % of the traffic is with addresses that are no VM/).textContent).toContain(
    'vm-a 90.0 %',
  )
})

test.each([
  [traffic([], { counted: false, elsewhere: null }), 'Agents do not count connections yet.'],
  [traffic([]), 'agents on 3 of 4 VMs have reported connections'],
])('without proposals, the next step is said', async (found, words) => {
  await show(found)
  expect(await screen.findByText(new RegExp(words))).toBeTruthy()
})

test('where no curve fits the port, one is chosen', async () => {
  mockApi({ ...ANSWERS, 'GET /v1/meshes/m/traffic-proposals': traffic([{ ...STAR, curve: null }]) })
  await showPage(<NewApplicationPage mesh="m" proposals={[KEY]} />)
  await screen.findByRole('option', { name: 'Memcached, server' })
  const curve = screen.getByRole<HTMLSelectElement>('combobox', { name: 'Curve' })
  expect([curve.value, curve.required]).toEqual(['', true])
})

const accepted = `POST /v1/meshes/m/traffic-proposals`

test.each([
  ['a proposal as it is', [STAR], false, undefined],
  ['a proposal with other VMs', [STAR], true, ['a', 'b']],
  ['several as one graph', [STAR, proposal('1'.repeat(16), 'open', ['b'], ['c'])], false, undefined],
])('%s', async (_, items, edits, vms) => {
  const { sent } = await visit(<NewApplicationPage mesh="m" proposals={items.map(({ key }) => key)} />, {
    ...ANSWERS,
    'GET /v1/meshes/m/traffic-proposals': traffic(items),
    [accepted]: { id: 'new' },
  })
  expect((await screen.findByRole<HTMLInputElement>('textbox', { name: 'Name' })).value).toBe('cache 0')
  await screen.findByRole('option', { name: 'Memcached, server' })
  if (edits) {
    const pill = (await screen.findByText('vm-c', { selector: '.mantine-Pill-label' })).parentElement
    await userEvent.click(within(pill as HTMLElement).getByRole('button', { hidden: true }))
  }
  await userEvent.click(screen.getByRole('button', { name: 'Add application' }))
  const [body] = bodiesOf(sent, accepted) as { proposals: string[]; curve: string; tasks?: { vm: string }[] }[]
  expect(body?.proposals).toEqual(items.map(({ key }) => key))
  expect(body?.curve).toBe('memcached-server')
  expect(body?.tasks?.map((task) => task.vm)).toEqual(vms)
})
