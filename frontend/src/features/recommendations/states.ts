import type { RecommendationState } from '~/api/types'
import { strings } from './strings'

/** What each state of a recommendation means to who reads it. */
export const STATES: Record<RecommendationState, string> = {
  proposed: 'proposed',
  accepted: strings.acceptedState,
  applied: strings.appliedState,
  verified: 'verified',
  dismissed: 'dismissed',
}
