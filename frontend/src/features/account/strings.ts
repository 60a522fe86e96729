/** Texts of the account of a person. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  accountLower: 'your account',
  accountLead: (email: string) => `${email}: password, second factors and signed-in browsers.`,
  ofOneTenant: (tenant: string) =>
    `The identity provider of ${tenant} signed you in, to this tenant alone. To change your account, sign in with a password or a passkey.`,
  nameHint: 'Other members of your tenants see it.',
  nameIsSaved: 'The name is saved.',
  passwordChanged: (day: string) => `Last changed on ${day}.`,
  noPassword: 'No password: you sign in with your organisation.',
  currentPassword: 'Current password',
  changePassword: 'Change password',
  passwordIsChanged: 'Password changed. Your other browsers are signed out.',

  secondFactors: 'Second factors',
  secondFactorsLead: 'After the password, a sign-in also asks for one of these.',
  noFactors: 'No second factor yet: anyone with your password can sign in.',
  requiredBy: (tenants: string) => `${tenants} requires a second factor.`,
  app: 'Authenticator app',
  appAdded: (day: string) => `Added on ${day}.`,
  addApp: 'Add authenticator app',
  removeApp: 'Remove authenticator app',
  removeAppEffect: 'Codes of the app are no longer accepted. Without another second factor, recovery codes end too.',
  scan: 'Scan this code with an authenticator app, or enter the secret by hand. Then enter the code that the app shows.',
  qrCode: 'QR code of the secret',
  secret: 'Secret',
  code: 'Code',
  confirmApp: 'Confirm',
  passkey: (name: string) => `Passkey ${name}`,
  passkeyAdded: (day: string, used: string | null) =>
    used ? `Added on ${day}, last used on ${used}.` : `Added on ${day}, not used yet.`,
  newPasskey: 'Name of a new passkey',
  passkeyHint: 'A passkey also signs you in without your password.',
  passkeyExample: 'Laptop',
  addPasskey: 'Add passkey',
  removePasskey: (name: string) => `Remove passkey ${name}`,
  removePasskeyEffect: 'It no longer signs you in. Remove it from your device too.',
  passkeysNeedHttps: 'Passkeys are not available: this browser has none, or the page was not opened over HTTPS.',
  recoveryCodes: 'Recovery codes',
  codesLeft: (left: number) => `${left} unused. Each replaces a second factor once.`,
  newCodes: 'Create new recovery codes',
  newCodesEffect: 'Earlier recovery codes become invalid.',
  createCodes: 'Create',
  keepCodes:
    'Keep these recovery codes in a safe place: they are shown only once. Each signs you in once without your app.',
  codesKept: 'I have kept them',

  sessions: 'Signed-in browsers',
  sessionsLower: 'your sessions',
  sessionsLead: 'End a session that you do not know, and change your password.',
  browser: 'Browser',
  thisBrowser: 'This browser',
  signedIn: 'Signed in',
  endOf: (browser: string, address: string) => `End ${browser}, ${address}`,
  endOthers: 'Sign out other browsers',
  endAll: 'Sign out everywhere',

  requireFactor: 'Require a second factor',
  requireFactorHint: 'Members without one can only set one up.',
  policyLower: 'the rule of sign-in',

  requiredTitle: 'Set up a second factor',
  requiredLead: (tenants: string) => `${tenants} requires one. Add an authenticator app or a passkey to continue.`,
  goOn: 'Continue',
}
