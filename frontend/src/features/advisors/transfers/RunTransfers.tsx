import { Button } from '@mantine/core'
import { useEdits } from '~/api/access'
import { useRunTransfers } from '~/api/bulk'
import type { TransferQuestion } from '~/api/types'
import { Panel, pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { strings } from '../strings'

/** The planned transfers of a mesh, run by the bulk senders of its VMs. */
export function RunTransfers({ request, onRun }: { request: TransferQuestion; onRun: (runId: string) => void }) {
  const run = useRunTransfers()
  if (!useEdits()) return null
  return (
    <Panel title={strings.runTransfers}>
      <p className={pageStyles.lead}>{strings.runLead}</p>
      <div>
        <Button loading={run.isPending} onClick={() => run.mutate(request, { onSuccess: ({ id }) => onRun(id) })}>
          {strings.runNow}
        </Button>
      </div>
      <ActionError error={run.error} />
    </Panel>
  )
}
