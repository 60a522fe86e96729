import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { shownError, useConfirmation } from '~/api/confirmation'
import { membersQuery, type OwnTenant, useTransferOwnership } from '~/api/members'
import { Choice } from '~/ui/Choice'
import { WordLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { Panel } from '~/ui/Page'
import { ProofDialog } from '~/ui/ProofDialog'
import { Unloaded } from '~/ui/Unloaded'
import { Confirmation } from './Confirmation'
import { strings } from './strings'

/** Make another member an owner. `own`: id of the signed-in person. */
export function TransferOwnership({ tenant, own }: { tenant: OwnTenant; own: string }) {
  const members = useQuery(membersQuery)
  const transfer = useTransferOwnership()
  const confirmation = useConfirmation()
  const [chosen, setChosen] = useState<string>()
  if (!members.data) return <Unloaded query={members} what={strings.transfer} />
  const others = members.data.filter(({ id, role }) => id !== own && role !== 'owner')
  const userId = chosen ?? others[0]?.id
  const act = (userId: string, tenantName: string) =>
    transfer.mutate(
      { userId, tenantName },
      { onError: (error) => confirmation.ask(error, () => act(userId, tenantName)) },
    )
  return (
    <Panel title={strings.transfer}>
      {userId === undefined ? (
        <NoRows next={<WordLink to="/members">{strings.invitePerson}</WordLink>}>{strings.noOthers}</NoRows>
      ) : (
        <Confirmation
          tenant={tenant}
          lead={strings.transferLead}
          action={strings.transfer}
          doing={{ isPending: transfer.isPending, error: shownError(transfer.error) }}
          onConfirm={(tenantName) => act(userId, tenantName)}
        >
          <Choice
            label={strings.newOwner}
            data={others.map(({ id, email }) => ({ value: id, label: email }))}
            value={userId}
            onChange={setChosen}
            w={240}
          />
        </Confirmation>
      )}
      <ProofDialog proof={confirmation} />
    </Panel>
  )
}
