import { expect, test } from 'vitest'
import { mockApi, recorded, reply, screen, showPage, userEvent, visit } from '~/testing/page'
import { DevicePage } from './DevicePage'

const LOGIN = recorded('/v1/device-logins/lookup', { device_name: 'sinemora on web-1' }, 'post')
const UNKNOWN = { code: 'device_login_unknown', status: 404, detail: 'Unknown device login.' }
const nothing = () => {}

test('a device is refused', async () => {
  await visit(<DevicePage code="WDJB-MJHT" onCode={nothing} />, {
    'POST /v1/device-logins/lookup': () => reply(200, LOGIN),
    'POST /v1/device-logins/deny': () => reply(200, LOGIN),
  })
  await userEvent.click(await screen.findByRole('button', { name: 'Refuse' }))
  expect(await screen.findByText('sinemora on web-1 is refused.')).toBeTruthy()
})

test('an unknown code can be corrected', async () => {
  mockApi({ 'POST /v1/device-logins/lookup': () => reply(404, UNKNOWN) })
  await showPage(<DevicePage code="BBBB-BBBB" onCode={nothing} />)
  expect(await screen.findByRole('alert')).toHaveProperty(
    'textContent',
    expect.stringContaining('Unknown device login'),
  )
  expect(screen.getByLabelText<HTMLInputElement>('Code of the device').value).toBe('BBBB-BBBB')
})
