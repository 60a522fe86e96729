import { CopyText } from '~/ui/CopyText'
import { Panel, pageStyles } from '~/ui/Page'
import { nameOf, type PolicyOutcome } from './outcomes'
import { strings } from './strings'

/** The command that puts the classes of an outcome in force at a VM's egress; nothing where no outcome has one. */
export function GuardCommand({ outcomes }: { outcomes: PolicyOutcome[] }) {
  const found = outcomes.find(({ egress_guard }) => egress_guard != null)
  if (!found?.egress_guard) return null
  return (
    <Panel title={strings.guard}>
      <p className={pageStyles.lead}>{strings.guardLead(nameOf(found))}</p>
      <CopyText text={found.egress_guard} label={strings.guardCommand} />
    </Panel>
  )
}
