import { Panel, pageStyles } from '~/ui/Page'
import { Term } from '~/ui/Term'
import { strings } from '../strings'
import type { PartProps } from './draft'
import { draftNumbers } from './draftNumbers'

const DAY_S = 86_400

/** The evaluation of a rule: windows, VMs and times. */
export function EvaluationFields(part: PartProps) {
  const { draft, wrong } = part
  const number = draftNumbers(part)
  return (
    <Panel title={strings.evaluation}>
      <div className={pageStyles.form}>
        {number('windowsX', 'windows_x', {
          label: <Term of="breach">{strings.breachingWindows}</Term>,
          min: 1,
          max: 16,
          error: Number(draft.windowsX) > Number(draft.windowsY) ? strings.tooManyBreaching : wrong('windows_x'),
          w: 150,
        })}
        {number('windowsY', 'windows_y', { label: strings.outOf, min: 1, max: 16, w: 120 })}
        {number('sourcesMin', 'sources_min', { label: strings.minimumVms, min: 1, max: 10_000, w: 160 })}
        {number('holdS', 'hold_s', { label: <Term of="pending">{strings.pendingFor}</Term>, max: DAY_S, w: 150 })}
        {number('keepFiringS', 'keep_firing_s', {
          label: <Term of="firing">{strings.keepFiringFor}</Term>,
          max: DAY_S,
          w: 160,
        })}
      </div>
    </Panel>
  )
}
