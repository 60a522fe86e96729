/** An authenticator of the browser for tests: jsdom has none. */

import { vi } from 'vitest'

const bytes = (text: string) => new TextEncoder().encode(text).buffer

/** Let the browser create and use passkeys; with `refuses` the person closes its dialog. Return what was asked. */
export function mockAuthenticator({ refuses = false } = {}): PublicKeyCredentialRequestOptions[] {
  const asked: PublicKeyCredentialRequestOptions[] = []
  const credential = {
    id: 'key',
    rawId: bytes('key'),
    type: 'public-key',
    response: {
      clientDataJSON: bytes('{}'),
      authenticatorData: bytes('data'),
      attestationObject: bytes('object'),
      signature: bytes('signature'),
      userHandle: bytes('user'),
      getTransports: () => ['internal'],
    },
    getClientExtensionResults: () => ({}),
    authenticatorAttachment: 'platform',
  }
  const answer = async ({ publicKey }: { publicKey: PublicKeyCredentialRequestOptions }) => {
    asked.push(publicKey)
    if (refuses) throw new DOMException('The operation was not allowed.', 'NotAllowedError')
    return credential
  }
  vi.stubGlobal('PublicKeyCredential', class {})
  Object.defineProperty(navigator, 'credentials', { value: { create: answer, get: answer }, configurable: true })
  return asked
}
