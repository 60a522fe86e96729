import { expect, test } from 'vitest'
import { bodiesOf, fill, mockApi, refuse, reply, type Sent, screen, showPage, userEvent, visit } from '~/testing/page'
import { inputOf, NEW_RULE } from './draft'
import { NewRulePage } from './NewRulePage'
import { RuleEditor, RulePage } from './RuleEditor'
import { newRuleSearch } from './search'

const RULE_ANSWERS = {
  'GET /v1/meshes/m/roster': { vms: [], zones: [] },
  'GET /v1/meshes/m': { id: 'm', name: 'production', window_s: 10 },
  'GET /v1/applications': [],
  'GET /v1/zones': [],
}

test('more breaching windows than windows evaluated are refused before the form is sent', async () => {
  await visit(<RuleEditor meshId="m" />, RULE_ANSWERS)
  const breaching = screen.getByRole('spinbutton', { name: 'Bad windows' })
  await fill(breaching, '9')
  expect(screen.getByText('Must not exceed the windows evaluated')).toBeTruthy()
})

test('the preview of a rule with a wrong field leaves the reason to the field', async () => {
  const vms = [
    { id: 'v1', name: 'a-1', zone_id: 'z' },
    { id: 'v2', name: 'b-1', zone_id: 'z' },
  ]
  await visit(<RuleEditor meshId="m" />, {
    ...RULE_ANSWERS,
    'GET /v1/meshes/m/roster': { vms, zones: [] },
    'POST /v1/alert-rule-previews': () => refuse('windows_x', 'Must be at least 1.'),
  })
  expect(await screen.findByText('The preview appears once the rule has no wrong field.')).toBeTruthy()
  expect(screen.queryByText(/Must be at least 1/)).toBeNull()
})

test('a rule that begins with a path without a limit compares with the baseline', async () => {
  await visit(<NewRulePage search={newRuleSearch({ mesh: 'm', source: 'web-1', target: 'db-1' })} />, RULE_ANSWERS)
  expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Type' }).value).toBe('baseline')
})

const STORED = {
  ...inputOf({ ...NEW_RULE, name: 'Slow', severity: 'warning', kind: 'threshold', above: '50' }),
  id: 'r',
  mesh_id: 'm',
  version: 1,
}

/** A rule that somebody else changes while a form is open; the server keeps the newest version. */
function changedBySomebodyElse() {
  let stored: typeof STORED = STORED
  const sent = mockApi({
    ...RULE_ANSWERS,
    'GET /v1/alert-rules/r': () => reply(200, stored),
    'PATCH /v1/alert-rules/r': ({ headers, body }: Sent) => {
      if (headers.get('If-Match') !== `"${stored.version}"`) {
        return reply(412, { code: 'version_changed', detail: 'Version changed.' })
      }
      stored = { ...stored, ...(body as object), version: stored.version + 1 }
      return reply(200, stored)
    },
  })
  return {
    sent,
    change: (changes: object) => {
      stored = { ...stored, ...changes, version: stored.version + 1 }
    },
    stored: () => stored,
  }
}

test('a rule that somebody else changed is not overwritten: the form says what changed and keeps what was typed', async () => {
  const rule = changedBySomebodyElse()
  await showPage(<RulePage ruleId="r" />)
  const runbook = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Runbook URL' })
  await fill(runbook, 'https://runbooks.example/slow')
  rule.change({ severity: 'critical', windows_x: 3 })
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  const notice = await screen.findByText('Someone else has changed this since you opened it.')
  const said = notice.parentElement?.textContent
  expect(said).toContain('Severity: Warning → Critical')
  expect(said).toContain('Bad windows: 2 out of 3 → 3 out of 3')
  expect(runbook.value).toBe('https://runbooks.example/slow')
  await userEvent.click(screen.getByRole('button', { name: 'Keep my entries' }))
  expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Severity' }).value).toBe('critical')
  expect(runbook.value).toBe('https://runbooks.example/slow')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await expect.poll(() => rule.stored().version).toBe(3)
  expect(rule.stored()).toMatchObject({
    severity: 'critical',
    windows_x: 3,
    runbook_url: 'https://runbooks.example/slow',
  })
})

test('a newer answer does not fill a form again, and its version is not taken for one that was read', async () => {
  const rule = changedBySomebodyElse()
  await showPage(<RulePage ruleId="r" />)
  const name = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Name' })
  await userEvent.type(name, 'er')
  rule.change({ name: 'Theirs' })
  // The first save is refused and reads the rule again; the second must be refused too.
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await screen.findByText(/^Name: Slow → Theirs$/)
  expect(name.value).toBe('Slower')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await expect.poll(() => bodiesOf(rule.sent, 'PATCH /v1/alert-rules/r').length).toBe(2)
  expect(rule.stored().name).toBe('Theirs')
  await userEvent.click(screen.getByRole('button', { name: 'Discard mine' }))
  expect(name.value).toBe('Theirs')
})

test('a change that does not concern the form is none', async () => {
  const rule = changedBySomebodyElse()
  await showPage(<RulePage ruleId="r" />)
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'er')
  rule.change({ updated_at: '2026-11-20T10:00:00Z' })
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await expect.poll(() => bodiesOf(rule.sent, 'GET /v1/alert-rules/r').length).toBe(2)
  expect(screen.queryByText('Someone else has changed this since you opened it.')).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await expect.poll(() => rule.stored().name).toBe('Slower')
})
