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

/** Return the state of a recommendation; one without moves proposes nothing. */
export const stateOf = ({ state, moves }: { state: RecommendationState; moves: number }): string =>
  state === 'proposed' && moves === 0 ? strings.nothingToDecide : STATES[state]
