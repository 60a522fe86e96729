import { expect, test } from 'vitest'
import { bodiesOf, fail, field, fill, press, reply, screen, userEvent, visit } from '~/testing/page'
import { NewReceiver } from './NewReceiver'

const API = {
  'GET /v1/alert-routes': { root: { receivers: ['before'] }, version: 1 },
  'GET /v1/about': { mails: true },
  'PUT /v1/alert-routes': { root: {}, version: 2 },
}

const open = (answers: object) => visit(<NewReceiver onDone={() => {}} />, { ...API, ...answers })

const chooseMail = async () =>
  userEvent.selectOptions(field('Type'), await screen.findByRole('option', { name: 'E-mail' }))

test('a receiver is created with the fields of its type, and the form is empty again', async () => {
  const { sent } = await open({ 'POST /v1/receivers': () => reply(201, { id: 'r', name: 'On-call' }) })
  await chooseMail()
  await userEvent.type(field('Name'), ' On-call ')
  await fill(field('To'), 'a@example.com, b@example.com')
  await press('Add receiver')
  expect(bodiesOf(sent, 'POST /v1/receivers')).toEqual([
    { name: 'On-call', kind: 'email', settings: { to: ['a@example.com', 'b@example.com'], contract_report: false } },
  ])
  expect(field('Name').value).toBe('')
})

test('a form that is sent again after a failure creates one receiver', async () => {
  let tries = 0
  const { sent } = await open({
    'POST /v1/receivers': () => (tries++ === 0 ? fail(500, 'Out of disk.') : reply(201, { id: 'r', name: 'On-call' })),
  })
  await chooseMail()
  await userEvent.type(field('Name'), 'On-call')
  await fill(field('To'), 'a@example.com')
  await press('Add receiver')
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('Out of disk.')
  expect(alert.textContent).toContain('r-1')
  await press('Add receiver')
  const keys = sent.filter(({ to }) => to === 'POST /v1/receivers').map(({ headers }) => headers.get('Idempotency-Key'))
  expect(keys).toHaveLength(2)
  expect(keys[0]).toBe(keys[1])
})

test('a receiver of another type has its own fields, and is notified of every incident without a route, unless that is not wanted', async () => {
  const { sent } = await open({ 'POST /v1/receivers': () => reply(201, { id: 'r', name: 'Chat' }) })
  await screen.findByRole('option', { name: 'E-mail' })
  await userEvent.selectOptions(field('Type'), 'PagerDuty')
  expect(screen.queryByLabelText('To')).toBeNull()
  expect(field('Routing key').type).toBe('password')
  await userEvent.type(field('Name'), 'Chat')
  await userEvent.type(field('Routing key'), 'k')
  await press('Add receiver')
  expect(bodiesOf(sent, 'POST /v1/receivers')).toEqual([
    { name: 'Chat', kind: 'pagerduty', settings: {}, secret: { routing_key: 'k' } },
  ])
  expect(bodiesOf(sent, 'PUT /v1/alert-routes')).toEqual([{ root: { receivers: ['before', 'Chat'] } }])
  await userEvent.type(field('Name'), 'Chat')
  await userEvent.type(field('Routing key'), 'k')
  await userEvent.click(field('Notify it of every incident that matches no route'))
  await press('Add receiver')
  expect(await screen.findByText(/Chat receives nothing yet: no route leads to it/)).toBeTruthy()
  expect(bodiesOf(sent, 'PUT /v1/alert-routes')).toHaveLength(1)
})

test('e-mail is offered only where a mail server is set', async () => {
  await open({ 'GET /v1/about': { mails: false } })
  expect(screen.queryByRole('option', { name: 'E-mail' })).toBeNull()
  expect(field('Type').value).toBe('webhook')
})
