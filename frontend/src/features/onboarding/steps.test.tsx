import { expect, test, vi } from 'vitest'
import type { EnrolmentToken, Mesh } from '~/api/types'
import { bodiesOf, fail, press, reply, screen, userEvent, visit, within } from '~/testing/page'
import { Arrivals } from './Arrivals'
import { InviteStep } from './InviteStep'

const MESH = { id: 'm', name: 'production', window_s: 10 } as Mesh
const TOKEN = {
  command: 'sinemora-agent run --backend https://x --token t',
  max_uses: 2,
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
}
const invite = (token: object, answers = {}) =>
  visit(<InviteStep mesh={MESH} token={{ ...TOKEN, ...token } as EnrolmentToken} onToken={() => {}} />, answers)

test('an enrolment command is created for as many machines and as long as chosen; a wrong number is not sent', async () => {
  const onToken = vi.fn()
  const answers = { 'POST /v1/enrolment-tokens': () => reply(201, { token: 't' }) }
  const { sent } = await visit(<InviteStep mesh={MESH} token={null} onToken={onToken} />, answers)
  const machines = screen.getByLabelText<HTMLInputElement>('Number of machines')
  await userEvent.clear(machines)
  await press('Create command')
  expect(screen.getByText('Enter a value.')).toBeTruthy()
  await userEvent.type(machines, '12')
  await userEvent.selectOptions(screen.getByLabelText('Valid for'), '7 days')
  await press('Create command')
  await expect.poll(() => onToken.mock.lastCall?.[0]).toEqual({ token: 't' })
  expect(bodiesOf(sent, 'POST /v1/enrolment-tokens')).toEqual([{ mesh_id: 'm', expires_in_s: 604_800, max_uses: 12 }])
})

test.each([
  ['curl -fsSL https://x/packages/install.sh | sudo sh -s --', 'Command that installs the agent'],
  [null, 'Command that builds the packages'],
])('a new machine gets the commands that install the agent: %s', async (install_command, label) => {
  await invite({ install_command })
  expect(screen.getByRole('group', { name: label })).toBeTruthy()
  expect(screen.getByRole('group', { name: 'Command to run on the VM' })).toBeTruthy()
  expect(screen.queryByText('Other machines cannot reach this backend.')).toBeNull()
})

test('a backend at a loopback address is reported: other machines cannot reach it', async () => {
  await invite({ command: 'sinemora-agent run --backend http://127.0.0.1:8420 --token t' })
  expect(screen.getByText('Other machines cannot reach this backend.')).toBeTruthy()
  expect(screen.getByText(/http:\/\/127\.0\.0\.1:8420, an address of the backend’s own machine/)).toBeTruthy()
})

const agent = (name: string, status: string, created_at: string) => ({
  id: name,
  vm: { id: name, name },
  status,
  created_at,
})
const AGENTS = [
  agent('old-1', 'reporting', '2026-11-01T00:00:00Z'),
  agent('old-2', 'reporting', '2026-11-01T00:00:00Z'),
  agent('new-1', 'enrolled', '2026-11-20T00:00:10Z'),
]
const arrivals = (agents: typeof AGENTS, since: string | null) =>
  visit(<Arrivals mesh={MESH} since={since} />, {
    'GET /v1/agents': agents,
    'GET /v1/meshes/m/roster': { vms: agents.map(({ vm }) => vm), zones: [] },
  })

test('machines that report already are counted, new ones are listed', async () => {
  await arrivals(AGENTS, '2026-11-20T00:00:00Z')
  expect(await screen.findByText('2 machines of this mesh report already.')).toBeTruthy()
  const rows = within(screen.getByRole('list', { name: 'Machines of this mesh' })).getAllByRole('listitem')
  expect(rows.map((row) => row.querySelector('strong')?.textContent)).toEqual(['new-1'])
})

test('machines that stopped reporting long ago are counted, not listed', async () => {
  const gone = ['gone-1', 'gone-2'].map((name) => agent(name, 'silent', '2026-11-01T00:00:00Z'))
  await arrivals(gone, null)
  expect(await screen.findByText(/2 machines of this mesh stopped reporting\./)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'See the VMs' }).getAttribute('href')).toBe('/vms')
  expect(screen.queryByRole('list', { name: 'Machines of this mesh' })).toBeNull()
})

test('an expired command shows that, and a failed one shows the reason', async () => {
  await invite(
    { max_uses: 1, expires_at: '2020-01-01T00:00:00Z' },
    { 'POST /v1/enrolment-tokens': () => fail(409, 'Quota exceeded: 12 VMs in total with this change, 10 allowed.') },
  )
  expect(screen.getByText('This command has expired. Create a new one.')).toBeTruthy()
  await press('Create new command')
  expect((await screen.findByRole('alert')).textContent).toContain('Quota exceeded: 12 VMs in total with this change')
})
