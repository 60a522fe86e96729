/** Search parameters of the sign-in page. */

import * as v from 'valibot'
import { flag, searchParser } from '~/lib/searchParams'

export interface SignInSearch {
  next?: string
  ended?: boolean
}

/** Accept only a path of this product as the destination after signing in, never another origin. */
const ownPath = v.pipe(v.string(), v.regex(/^\/(?![/\\])/))

export const signInSearch = searchParser<SignInSearch>({ next: ownPath, ended: flag })
