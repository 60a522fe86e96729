import type { Recommendation } from '~/api/types'
import { formatChange } from '~/lib/performance'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { strings } from './strings'

/** Limits that keep tasks from better VMs, and what would gain most if it were relaxed. */
export function BindingLimits({ recommendation }: { recommendation: Recommendation }) {
  const { binding } = recommendation.result
  if (!binding || binding.length === 0) return null
  return (
    <Panel title={strings.bindingLimits}>
      <p className={pageStyles.lead}>{strings.bindingLead}</p>
      <Records
        label={strings.bindingLimits}
        rows={binding}
        id={({ limits }) => limits.map(({ limit }) => limit).join()}
        columns={[
          {
            title: strings.wouldMove,
            cell: ({ application, task, vm }) => strings.taskToVm(`${application.name}/${task.name}`, vm.name),
            as: 'head',
          },
          {
            title: strings.relaxation,
            cell: ({ limits }) => limits.map(({ relax }) => relax).join(strings.and),
            as: 'wrap',
          },
          { title: strings.limit, cell: ({ limits }) => limits.map(({ limit }) => limit).join('; '), as: 'wrap' },
          { title: strings.gain, cell: ({ gain }) => formatChange(gain.gain.mean), as: 'number' },
        ]}
      />
    </Panel>
  )
}
