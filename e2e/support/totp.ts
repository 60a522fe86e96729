/** Codes of an authenticator app (RFC 6238), for journeys. */

import { createHmac } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const STEP_MS = 30_000

function bytesOf(base32: string): Buffer {
  const bits = [...base32].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** Return the code of a secret (base32) for a time step. */
function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const offset = (mac.at(-1) as number) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** Return the codes of a secret, each once. The code of the next step is accepted too (RFC 6238, section 5.2). */
export function authenticator(secret: string): () => Promise<string> {
  const now = () => Math.floor(Date.now() / STEP_MS)
  let step = 0
  return async () => {
    step = Math.max(step + 1, now())
    while (step > now() + 1) await new Promise((done) => setTimeout(done, 500))
    return codeOf(secret, step)
  }
}
