import { expect, test, vi } from 'vitest'
import { fireEvent, mockApi, recordedItem, screen, showPage, userEvent, visit, within } from '~/testing/page'
import { AuditPage } from './AuditPage'
import { changeLines } from './changes'

const ENTRY = recordedItem('/v1/audit-entries', {
  ...{ action: 'mesh.updated', subject_name: 'production', address: '192.0.2.7' },
  detail: { fields: ['rate_hz'], changes: { rate_hz: { before: 8, after: 16 } } },
})

test('an entry shows who changed what, from where, before and after', async () => {
  await visit(<AuditPage selection={{}} onSelect={() => {}} />, { 'GET /v1/audit-entries': [ENTRY] })
  const row = within(await screen.findByRole('row', { name: /production/ }))
  for (const text of ['owner@sinemora.example', 'mesh.updated', '192.0.2.7', 'rate_hz: 8 → 16']) {
    expect(row.getByText(text)).toBeTruthy()
  }
})

test('the filter is handed on, and can be reset', async () => {
  mockApi({ 'GET /v1/audit-entries': [] })
  const onSelect = vi.fn()
  await showPage(<AuditPage selection={{ kind: 'mesh' }} onSelect={onSelect} />)
  await userEvent.type(await screen.findByLabelText('Actor'), 'ci')
  await userEvent.click(screen.getByRole('button', { name: 'Apply' }))
  expect(onSelect).toHaveBeenLastCalledWith(expect.objectContaining({ kind: 'mesh', actor: 'ci' }))
  await userEvent.click(screen.getByRole('button', { name: 'Reset the filter' }))
  expect(onSelect).toHaveBeenLastCalledWith({})
})

test.each([
  ['/?tz=utc', 'From (UTC)', '2026-11-20T10:00:05.000Z'],
  ['/', 'From (America/St_Johns)', '2026-11-20T13:30:05.000Z'],
])('the range is typed in the zone of displayed times: %s', async (address, label, since) => {
  vi.stubEnv('TZ', 'America/St_Johns')
  mockApi({ 'GET /v1/audit-entries': [] })
  const onSelect = vi.fn()
  await showPage(<AuditPage selection={{}} onSelect={onSelect} />, address)
  fireEvent.change(await screen.findByLabelText(label), { target: { value: '2026-11-20T10:00:05' } })
  await userEvent.click(screen.getByRole('button', { name: 'Apply' }))
  expect(onSelect).toHaveBeenLastCalledWith(expect.objectContaining({ since }))
})

test('secrets are named without their values, further details follow', () => {
  const detail = { changes: { secret: { before: 'hidden', after: 'hidden' } }, scopes: ['read'], reason: '' }
  expect(changeLines({ detail })).toEqual(['secret: changed (secret)', 'scopes: ["read"]', 'reason: empty'])
})
