/** Search parameters of the sign-in page. */

import * as v from 'valibot'
import type { Factor } from '~/api/types'
import { flag, searchParser } from '~/lib/searchParams'

export interface SignInSearch {
  next?: string
  ended?: boolean
  /** Code of the problem that ended a sign-in at the provider. */
  failed?: string
  /** Second factors that a sign-in at the provider still needs. */
  factors?: Factor[]
}

const FACTORS: readonly string[] = ['totp', 'passkey', 'recovery_code'] satisfies Factor[]
const factorList = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').filter((word): word is Factor => FACTORS.includes(word))),
  v.minLength(1),
)

/** Accept only a path of this product as the destination after signing in, never another origin. */
const ownPath = v.pipe(v.string(), v.regex(/^\/(?![/\\])/))

export const signInSearch = searchParser<SignInSearch>({
  next: ownPath,
  ended: flag,
  failed: v.pipe(v.string(), v.regex(/^[a-z_]{1,60}$/)),
  factors: factorList,
})
