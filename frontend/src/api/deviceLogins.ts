/** Logins of devices without a browser, such as the command `sinemora login` on a server. */

import { post } from './client'
import type { components } from './schema.gen'

export type DeviceLogin = components['schemas']['DeviceLoginRead']

export const lookUpDeviceLogin = (code: string) => post('/v1/device-logins/lookup', { body: { user_code: code } })

export const approveDeviceLogin = (code: string) => post('/v1/device-logins/approve', { body: { user_code: code } })

export const denyDeviceLogin = (code: string) => post('/v1/device-logins/deny', { body: { user_code: code } })
