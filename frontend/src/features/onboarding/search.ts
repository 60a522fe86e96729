/** Search parameters of the page that adds a VM. */

import * as v from 'valibot'
import { searchParser } from '~/lib/searchParams'

export interface OnboardingSearch {
  mesh?: string
}

export const onboardingSearch = searchParser<OnboardingSearch>({ mesh: v.pipe(v.string(), v.nonEmpty()) })
