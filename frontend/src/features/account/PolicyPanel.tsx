import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { policyQuery, useSetPolicy } from '~/api/account'
import { shownError, useConfirmation } from '~/api/confirmation'
import { Panel } from '~/ui/Page'
import { ProofDialog } from '~/ui/ProofDialog'
import { ActionError, Loading } from '~/ui/State'
import { strings } from './strings'

/** The rule of sign-in for all members of the tenant, for its owners. */
export function PolicyPanel() {
  const policy = useQuery(policyQuery)
  const set = useSetPolicy()
  const confirmation = useConfirmation()
  const require = (required: boolean) =>
    set.mutate(required, { onError: (error) => confirmation.ask(error, () => require(required)) })
  return (
    <Panel title={strings.signInOfAllMembers}>
      {policy.data ? (
        <Checkbox
          label={strings.requireFactor}
          description={strings.requireFactorHint}
          checked={policy.data.second_factor_required}
          disabled={set.isPending}
          onChange={({ currentTarget }) => require(currentTarget.checked)}
        />
      ) : policy.error ? (
        <ActionError error={policy.error} />
      ) : (
        <Loading what={strings.policyLower} />
      )}
      <ActionError error={shownError(set.error)} />
      <ProofDialog proof={confirmation} />
    </Panel>
  )
}
