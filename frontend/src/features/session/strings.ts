/** Texts of signing in. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  title: 'Sign in to Sinemora',
  sessionEnded: 'Your session has ended. Sign in to continue.',
  sessionEndedHere: 'Your session has ended. Sign in to continue: what you have entered on this page is kept.',
  singleSignOn: 'Continue with single sign-on',
  singleSignOnInTab: 'Continue with single sign-on in a new tab',
  usePassword: 'Use a password',
  usePasskey: 'Use a passkey',
  continueWith: (provider: string) => `Continue with ${provider}`,
  continueInTab: (provider: string) => `Continue with ${provider} in a new tab`,
  providerFailures: {
    provider_refused: 'The provider has not signed you in.',
    provider_no_role: 'None of your groups has a role here. Ask an administrator of your tenant.',
    provider_email_unverified: 'The provider has not verified your e-mail address.',
    provider_unknown: 'Your domain has no identity provider here. Use your password or a passkey.',
    single_sign_on_required: 'Your tenant lets you in by its identity provider. Enter your e-mail address.',
    sign_in_expired: 'The sign-in expired. Start it again.',
  } as Record<string, string>,
  providerFailed: 'The provider could not sign you in. Try again, or inform the operator of this installation.',
  backToSignIn: 'Back to sign-in',
  firstAccount: 'Create the first account',
  firstAccountLead: 'Nobody has an account here yet. The first one owns a new tenant and invites the others.',
  firstAccountCode: 'The log of the API has it, in the line “no account yet”.',
  tenantHint: 'Name of your company or team.',
  createAccount: 'Create account',
  secondFactorLead: 'Enter the code that your authenticator app shows, or a recovery code.',
  secondFactorOfPasskey: 'Use your passkey, or enter a recovery code.',
  code: 'Code',
  resetLead: 'A link to set a new password goes to your e-mail address. It is valid for 30 minutes.',
  sendLink: 'Send link',
  linkSent:
    'If an account has this address, the link is on its way. No mail after some minutes: ask the operator of this installation.',
  newPasswordLead: 'All browsers in which you are signed in will be signed out.',
  setPassword: 'Set password',
  passwordSet: 'Your new password is set.',
  linkIncomplete: 'This link is incomplete. Copy it from the mail again.',
}
