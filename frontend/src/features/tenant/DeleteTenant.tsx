import { Button } from '@mantine/core'
import { shownError, useConfirmation } from '~/api/confirmation'
import { type OwnTenant, useCancelDeletion, useRequestDeletion } from '~/api/members'
import { formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { Panel } from '~/ui/Page'
import { ProofDialog } from '~/ui/ProofDialog'
import { ActionError, Notice } from '~/ui/State'
import { Confirmation } from './Confirmation'
import { strings } from './strings'

/** Request the deletion of the tenant, or keep it while the deletion is still ahead. */
export function DeleteTenant({ tenant }: { tenant: OwnTenant }) {
  const request = useRequestDeletion()
  const cancel = useCancelDeletion()
  const confirmation = useConfirmation()
  const clock = useClock()
  const act = (tenantName: string) =>
    request.mutate(
      { id: tenant.id, tenantName },
      { onError: (error) => confirmation.ask(error, () => act(tenantName)) },
    )
  if (tenant.deletion_at !== null) {
    const at = new Date(tenant.deletion_at)
    return (
      <Panel title={strings.deleteTenant}>
        <Notice tone="warn">{strings.deletedOn(formatMoment(at, clock))}</Notice>
        <ActionError error={cancel.error} />
        <Button
          variant="default"
          w="fit-content"
          onClick={() => cancel.mutate(tenant.id)}
          loading={cancel.isPending}
          mt="sm"
        >
          {strings.keepTenant}
        </Button>
      </Panel>
    )
  }
  return (
    <Panel title={strings.deleteTenant}>
      <Confirmation
        tenant={tenant}
        lead={strings.deleteLead}
        action={strings.deleteTenant}
        doing={{ isPending: request.isPending, error: shownError(request.error) }}
        onConfirm={act}
      />
      <ProofDialog proof={confirmation} />
    </Panel>
  )
}
