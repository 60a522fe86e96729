// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { bodiesOf, mockApi, refuse, reply } from '~/testing/api'
import { showPage } from '~/testing/render'
import { RuleEditor } from './RuleEditor'

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
