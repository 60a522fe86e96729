import { expect, test } from 'vitest'
import { type Answers, bodiesOf, recorded, screen, userEvent, visitSearch, within } from '~/testing/page'
import { requestOf, transportSearch } from './question'
import { TransportPage } from './TransportPage'

const ADVICE = recorded('/v1/advisors/transports', {}, 'post')
const EVIDENCE = {
  ...{ ...ADVICE.evidence, min_round_trip_us: 60, round_trip_us: 80, same_host: null },
  measured: ['loss', 'round_trip_us'],
}
const rule = { ...ADVICE.fired[1], is_available: false, overridden_by: null }

const open = (answers: Answers) => visitSearch(TransportPage, transportSearch, answers)

test('the advice names its rule, its measurement and its effect; other rules say what overrides them', async () => {
  const { sent } = await open({
    'GET /v1/meshes': [{ id: 'm', name: 'demo' }],
    'GET /v1/meshes/m/roster': { vms: [{ name: 'a-1' }, { name: 'b-1' }] },
    'POST /v1/advisors/transports': {
      ...ADVICE,
      evidence: EVIDENCE,
      fired: [rule, { ...rule, rule: 'R3', choice: 'MPTCP', overridden_by: 'R2' }],
    },
  })
  expect(await screen.findByText('Transport: DCTCP')).toBeTruthy()
  expect(screen.getByText(/Transfers 20.0 % shorter, the job 10.0 % shorter/)).toBeTruthy()
  expect(screen.getByText(/The kernel does not offer it/)).toBeTruthy()
  expect(
    screen.getByText('Measured on this path: median round trip 80.0 µs, smallest round trip 60.0 µs, loss 0 %.'),
  ).toBeTruthy()
  expect(screen.getByText(/ECN and order are unknown/)).toBeTruthy()
  const rows = within(screen.getByRole('region', { name: 'Rules that fired' })).getAllByRole('row')
  expect(rows.map((row) => row.lastChild?.textContent)).toEqual(['Outcome', 'Chosen', 'Overridden by R2'])
  await userEvent.selectOptions(screen.getByLabelText('Mesh'), 'm')
  await userEvent.selectOptions(
    await screen.findByLabelText('From VM'),
    await screen.findAllByRole('option', { name: 'a-1' }).then(([a]) => a as HTMLElement),
  )
  await userEvent.selectOptions(screen.getByLabelText('To VM'), 'b-1')
  await userEvent.click(screen.getByLabelText('Encryption is required'))
  await expect
    .poll(() => bodiesOf(sent, 'POST /v1/advisors/transports').at(-1))
    .toMatchObject({ mesh: 'm', source: 'a-1', target: 'b-1', encrypt: true })
})

test('a path from a VM to itself is left out of the request', () => {
  expect(requestOf({ mesh: 'm', source: 'a', target: 'a' })).not.toHaveProperty('mesh')
})

test('marks and order that were measured are named with their time', async () => {
  const evidence = {
    ...EVIDENCE,
    ...{ ecn: 'bleached', reordering: 0.0125, probed_at: '2026-11-27T04:00:00Z' },
    measured: ['ecn', 'loss', 'reordering'],
  }
  await open({ 'GET /v1/meshes': [], 'POST /v1/advisors/transports': { ...ADVICE, evidence, fired: [rule] } })
  expect(await screen.findByText(/a hop clears the ECN field, 1.25 % of pairs reordered/)).toBeTruthy()
  expect(screen.getByText(/^ECN and order: measured on demand at .*04:00:00/)).toBeTruthy()
})
