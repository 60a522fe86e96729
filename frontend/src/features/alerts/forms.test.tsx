// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { bodiesOf, fail, mockApi, refuse, reply } from '~/testing/api'
import { showPage } from '~/testing/render'
import { NewReceiver } from './NewReceiver'
import { NewSilence } from './NewSilence'
import { RuleEditor } from './RuleEditor'

const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label)
const press = (name: string) => userEvent.click(screen.getByRole('button', { name }))

test('a receiver is created with the fields of its type, and the form is empty again', async () => {
  const sent = mockApi({ 'POST /v1/receivers': () => reply(201, { id: 'r' }) })
  await showPage(<NewReceiver />)
  await userEvent.type(field('Name'), ' On-call ')
  await userEvent.type(field('To'), 'a@example.com, b@example.com')
  await press('Add receiver')
  expect(bodiesOf(sent, 'POST /v1/receivers')).toEqual([
    { name: 'On-call', kind: 'email', settings: { to: ['a@example.com', 'b@example.com'] } },
  ])
  expect(field('Name').value).toBe('')
})

test('another type of receiver has other fields', async () => {
  const sent = mockApi({ 'POST /v1/receivers': () => reply(201, { id: 'r' }) })
  await showPage(<NewReceiver />)
  await userEvent.selectOptions(field('Type'), 'PagerDuty')
  expect(screen.queryByLabelText('To')).toBeNull()
  expect(field('Routing key').type).toBe('password')
  await userEvent.type(field('Name'), 'Pager')
  await userEvent.type(field('Routing key'), 'k')
  await press('Add receiver')
  expect(bodiesOf(sent, 'POST /v1/receivers')).toEqual([
    { name: 'Pager', kind: 'pagerduty', settings: {}, secret: { routing_key: 'k' } },
  ])
})

test('a refused receiver keeps the typed values and shows the reason at the field', async () => {
  mockApi({ 'POST /v1/receivers': () => refuse('settings/to', 'Not an e-mail address.') })
  await showPage(<NewReceiver />)
  await userEvent.type(field('Name'), 'On-call')
  await userEvent.type(field('To'), 'nobody')
  await press('Add receiver')
  expect(await screen.findByText('Not an e-mail address.')).toBeTruthy()
  expect(field('To').getAttribute('aria-invalid')).toBe('true')
  expect([field('Name').value, field('To').value]).toEqual(['On-call', 'nobody'])
})

test('a form that is sent again after a failure creates one receiver', async () => {
  let tries = 0
  const sent = mockApi({
    'POST /v1/receivers': () => (tries++ === 0 ? fail(500, 'Out of disk.') : reply(201, { id: 'r' })),
  })
  await showPage(<NewReceiver />)
  await userEvent.type(field('Name'), 'On-call')
  await userEvent.type(field('To'), 'a@example.com')
  await press('Add receiver')
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('Out of disk.')
  expect(alert.textContent).toContain('r-1')
  await press('Add receiver')
  const keys = sent.filter(({ to }) => to === 'POST /v1/receivers').map(({ headers }) => headers.get('Idempotency-Key'))
  expect(keys).toHaveLength(2)
  expect(keys[0]).toBe(keys[1])
})

test('a silence states its matchers, its end and its weekly window', async () => {
  const sent = mockApi({ 'POST /v1/silences': () => reply(201, { id: 's' }) })
  await showPage(<NewSilence />)
  await userEvent.type(field('Value 1'), 'production')
  await userEvent.type(field('Reason'), 'Switch replacement')
  await userEvent.selectOptions(field('Ends in'), '1 week')
  await userEvent.click(field('Only a weekly maintenance window'))
  await userEvent.selectOptions(field('Weekday'), 'Saturday')
  await press('Create silence')
  const [body] = bodiesOf(sent, 'POST /v1/silences') as [Record<string, unknown>]
  expect(body).toMatchObject({
    comment: 'Switch replacement',
    matchers: [{ label: 'mesh', value: 'production', negate: false }],
    weekly: { weekday: 5, minute: 120, lasts_min: 120 },
  })
  expect((Date.parse(String(body.ends_at)) - Date.now()) / 3_600_000).toBeCloseTo(168, 1)
  expect(field('Reason').value).toBe('')
})

test('matches of a silence are previewed, and nothing is created', async () => {
  const sent = mockApi({ 'POST /v1/silence-previews': { incidents: [] } })
  await showPage(<NewSilence />)
  await userEvent.type(field('Value 1'), 'production')
  await userEvent.type(field('Reason'), 'x')
  await press('Preview matches')
  expect(await screen.findByText('No incident of the last 7 days matches.')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/silences')).toEqual([])
  expect(field('Reason').value).toBe('x')
})

test('a refused silence keeps the typed values and shows the reason at the field', async () => {
  mockApi({ 'POST /v1/silences': () => refuse('comment', 'Too short.') })
  await showPage(<NewSilence />)
  await userEvent.type(field('Value 1'), 'production')
  await userEvent.type(field('Reason'), 'x')
  await press('Create silence')
  expect(await screen.findByText('Too short.')).toBeTruthy()
  expect([field('Value 1').value, field('Reason').value]).toEqual(['production', 'x'])
})

const RULE_ANSWERS = {
  'GET /v1/meshes/m/roster': { vms: [], zones: [] },
  'GET /v1/meshes/m': { id: 'm', name: 'production', window_s: 10 },
  'GET /v1/applications': [],
  'GET /v1/zones': [],
}

test('a rule is created, and the list of rules follows', async () => {
  const sent = mockApi({ ...RULE_ANSWERS, 'POST /v1/alert-rules': () => reply(201, { id: 'r' }) })
  const router = await showPage(<RuleEditor meshId="m" />)
  await userEvent.type(screen.getByRole('textbox', { name: 'Name' }), 'Slow')
  await userEvent.click(await screen.findByRole('button', { name: 'Create rule' }))
  expect(bodiesOf(sent, 'POST /v1/alert-rules')).toMatchObject([{ name: 'Slow', mesh_id: 'm', severity: 'warning' }])
  await expect.poll(() => router.state.location.pathname).toBe('/alert-rules')
})

test('a refused rule keeps the typed values and shows the reason at the field', async () => {
  mockApi({ ...RULE_ANSWERS, 'POST /v1/alert-rules': () => refuse('name', 'There is a rule of this name.') })
  const router = await showPage(<RuleEditor meshId="m" />)
  await userEvent.type(screen.getByRole('textbox', { name: 'Name' }), 'Slow')
  await userEvent.click(await screen.findByRole('button', { name: 'Create rule' }))
  expect(await screen.findByText('There is a rule of this name.')).toBeTruthy()
  expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'Name' }).value).toBe('Slow')
  expect(router.state.location.pathname).toBe('/')
})

test('more breaching windows than windows evaluated are refused before the form is sent', async () => {
  mockApi(RULE_ANSWERS)
  await showPage(<RuleEditor meshId="m" />)
  const breaching = screen.getByRole('spinbutton', { name: 'Breaching windows' })
  await userEvent.clear(breaching)
  await userEvent.type(breaching, '9')
  expect(screen.getByText('Must not exceed the windows evaluated')).toBeTruthy()
})
