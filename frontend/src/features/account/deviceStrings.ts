/** Texts of the confirmation of a device. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  lead: 'Let a program on a device without a browser act for you. Enter the code that it shows.',
  code: 'Code of the device',
  codeExample: 'WDJB-MJHT',
  next: 'Continue',
  another: 'Enter another code',
  question: (device: string) => `Connect ${device}?`,
  check: 'Continue only if you started this login yourself and the device shows this code now:',
  device: 'Device',
  from: 'Asked from',
  program: 'Program',
  asked: 'Asked at',
  account: 'Acts as',
  actsAs: (email: string, role: string, tenant: string) => `${email}, as ${role} in ${tenant}`,
  scope: 'May',
  read: 'read',
  write: 'read and change',
  days: (days: number) => `${days} days, or until you delete its key under API keys`,
  allow: 'Connect',
  refuse: 'Refuse',
  connected: (device: string) => `${device} is connected.`,
  connectedLead: 'It signs in within a few seconds. You can close this page.',
  refused: (device: string) => `${device} is refused.`,
  refusedLead: 'It gets no key. If you did not start this login, somebody may have asked you to confirm theirs.',
}
