/** Texts of the sign-in page. */

export const strings = {
  title: 'Sign in to Sinemora',
  sessionEnded: 'Your session has ended. Sign in to continue.',
  email: 'E-mail',
  password: 'Password',
  showPassword: 'Show password',
  signIn: 'Sign in',
}
