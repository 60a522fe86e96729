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

/** Policies of simulations. Some share an identifier with one of recommendations, but not its meaning. */
export const SIMULATED_POLICIES: Policies = strings.simulatedPolicies

/** Return a policy by its identifier; a newer server may have one that is not known here. */
export const policyOf = (policies: Policies, id: string): Policy => policies[id] ?? { name: id, line: '' }
