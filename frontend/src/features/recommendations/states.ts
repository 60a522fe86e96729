import type { RecommendationState } from '~/api/types'
import { strings } from './strings'

/** The text of each state of a recommendation. */
export const STATES: Record<RecommendationState, string> = {
  proposed: 'proposed',
  accepted: strings.acceptedState,
  applied: strings.appliedState,
  verified: 'verified',
  undone: strings.undoneState,
  dismissed: 'dismissed',
}
