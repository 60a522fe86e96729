import { useState } from 'react'
import { expect, test } from 'vitest'
import { mockApi, reply, screen, showPage, userEvent } from '~/testing/page'
import { DevicePage } from './DevicePage'

const LOGIN = {
  user_code: 'WDJB-MJHT',
  device_name: 'sinemora on web-1',
  scope: 'write',
  address: '192.0.2.7',
  program: 'sinemora-client/0.1.0 Python/3.11',
  created_at: '2026-11-26T05:00:00Z',
  expires_at: '2026-11-26T05:10:00Z',
  tenant_name: 'Acme',
  role: 'viewer',
  key_valid_days: 90,
}
const UNKNOWN = { code: 'device_login_unknown', status: 404, detail: 'Unknown device login.' }

function Opened({ code: first }: { code?: string }) {
  const [code, setCode] = useState(first)
  return <DevicePage code={code} onCode={setCode} />
}

test('a device is refused', async () => {
  mockApi({
    'POST /v1/device-logins/lookup': () => reply(200, LOGIN),
    'POST /v1/device-logins/deny': () => reply(200, LOGIN),
  })
  await showPage(<Opened code="WDJB-MJHT" />)
  await userEvent.click(await screen.findByRole('button', { name: 'Refuse' }))
  expect(await screen.findByText('sinemora on web-1 is refused.')).toBeTruthy()
})

test('an unknown code can be corrected', async () => {
  mockApi({ 'POST /v1/device-logins/lookup': () => reply(404, UNKNOWN) })
  await showPage(<Opened code="BBBB-BBBB" />)
  expect(await screen.findByRole('alert')).toHaveProperty(
    'textContent',
    expect.stringContaining('Unknown device login'),
  )
  expect(screen.getByLabelText<HTMLInputElement>('Code of the device').value).toBe('BBBB-BBBB')
})
