/** Passkeys: the browser creates and uses them (WebAuthn), the API stores and verifies them. */

import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser'
import { sessionQuery } from './access'
import { accountQuery } from './account'
import { useAction } from './action'
import { post, remove } from './client'

export const passkeysSupported = browserSupportsWebAuthn

type Options = { options: Record<string, unknown> }

async function used({ options }: Options) {
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON
  return { credential: { ...(await startAuthentication({ optionsJSON })) } }
}

/** Sign in with a passkey alone. */
export async function signInWithPasskey() {
  const body = await used(await post('/v1/auth/passkey-options'))
  return post('/v1/auth/passkey', { body })
}

/** Finish a sign-in with a passkey as the second factor. */
export async function sendPasskey() {
  const body = await used(await post('/v1/auth/passkey-options'))
  return post('/v1/auth/second-factor/passkey', { body })
}

/** Confirm with a passkey who is at this browser. */
export async function confirmWithPasskey() {
  const body = await used(await post('/v1/account/confirmation-options'))
  return post('/v1/account/confirmations', { body })
}

async function createPasskey(name: string) {
  const { options } = await post('/v1/account/passkey-options')
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON
  const credential = { ...(await startRegistration({ optionsJSON })) }
  return post('/v1/account/passkeys', { body: { name, credential } })
}

const ACCOUNT = [accountQuery.queryKey, sessionQuery.queryKey]

export const useCreatePasskey = () => useAction(createPasskey, ACCOUNT)

export const useDeletePasskey = () =>
  useAction((id: string) => remove('/v1/account/passkeys/{passkey_id}', { path: { passkey_id: id } }), ACCOUNT)

/** Return a passkey error for people: a closed dialog of the browser is no failure. */
export const passkeyError = (error: unknown) =>
  error instanceof Error && ['NotAllowedError', 'AbortError'].includes(error.name) ? null : error
