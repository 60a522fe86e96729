/** Names and explanations of placement policies. */

import { strings } from './strings'

export interface Policy {
  name: string
  /** One line for people who do not know the policy. */
  line: string
}

type Policies = Readonly<Record<string, Policy>>

/** Policies of recommendations, in the order they are offered. */
export const POLICIES: Policies = strings.policies

/** Policies of simulations; `best` and `nomora` are those of recommendations. */
export const SIMULATED_POLICIES: Policies = strings.simulatedPolicies

/** Return a policy by its identifier; a newer server may have one that is not known here. */
export const policyOf = (policies: Policies, id: string): Policy => policies[id] ?? { name: id, line: '' }

/** Return a simulated policy by its identifier. */
export const simulatedPolicy = (id: string): Policy => policyOf(SIMULATED_POLICIES, id)
