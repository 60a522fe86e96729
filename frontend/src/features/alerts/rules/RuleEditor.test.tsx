// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { bodiesOf, mockApi, refuse, reply } from '~/testing/api'
import { showPage } from '~/testing/render'
import { NewRulePage } from './NewRulePage'
import { RuleEditor } from './RuleEditor'
import { newRuleSearch } from './search'

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

test('a rule that begins with a path and a limit is saved with one key', async () => {
  const sent = mockApi({ ...RULE_ANSWERS, 'POST /v1/alert-rules': () => reply(201, { id: 'r' }) })
  const search = newRuleSearch({ mesh: 'm', source: 'web-1', target: 17, above: '91000' })
  const router = await showPage(<NewRulePage search={search} />)
  expect(await screen.findByText(/^One-way delay, p50 above 91\.0 µs; web-1 → 17/)).toBeTruthy()
  await screen.findByRole('button', { name: 'Create rule' })
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => router.state.location.pathname).toBe('/alert-rules')
  expect(bodiesOf(sent, 'POST /v1/alert-rules')).toMatchObject([
    {
      name: 'Delay of web-1 → 17',
      condition: { kind: 'threshold', metric: 'one_way_delay', statistic: 'p50', above: 91_000 },
      scope: { path: ['web-1', '17'] },
    },
  ])
})

test('a rule that begins with a path without a limit compares with the baseline', async () => {
  mockApi(RULE_ANSWERS)
  await showPage(<NewRulePage search={newRuleSearch({ mesh: 'm', source: 'web-1', target: 'db-1' })} />)
  expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Type' }).value).toBe('baseline')
})
