/** Texts of signing in. */

export const strings = {
  title: 'Sign in to Sinemora',
  sessionEnded: 'Your session has ended. Sign in to continue.',
  email: 'E-mail',
  password: 'Password',
  showPassword: 'Show password',
  signIn: 'Sign in',
  usePasskey: 'Use a passkey',
  forgotPassword: 'Forgotten password',
  backToSignIn: 'Back to sign-in',
  secondFactor: 'Second factor',
  secondFactorLead: 'Enter the code that your authenticator app shows, or a recovery code.',
  secondFactorOfPasskey: 'Use your passkey, or enter a recovery code.',
  code: 'Code',
  resetTitle: 'Forgotten password',
  resetLead: 'A link to set a new password goes to your e-mail address. It is valid for 30 minutes.',
  sendLink: 'Send link',
  linkSent:
    'If an account has this address, the link is on its way. No mail after some minutes: ask the operator of this installation.',
  newPasswordTitle: 'Set a new password',
  newPasswordLead: 'All browsers in which you are signed in will be signed out.',
  newPassword: 'New password',
  passwordHint: 'At least 10 characters. Several unrelated words are easy to remember and hard to guess.',
  setPassword: 'Set password',
  passwordSet: 'Your new password is set.',
  linkIncomplete: 'This link is incomplete. Copy it from the mail again.',
}
