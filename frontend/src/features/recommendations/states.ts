import type { RecommendationState } from '~/api/types'

/** What each state of a recommendation means to who reads it. */
export const STATES: Record<RecommendationState, string> = {
  proposed: 'proposed',
  accepted: 'accepted: somebody will make the moves',
  applied: 'applied: its outcome is being measured',
  verified: 'verified',
  dismissed: 'dismissed',
}
