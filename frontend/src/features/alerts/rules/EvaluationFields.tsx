import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { Term } from '~/ui/Term'
import { strings } from '../strings'
import type { PartProps } from './draft'

const DAY_S = 86_400

/** The evaluation of a rule: windows, VMs and times. */
export function EvaluationFields({ draft, patch, wrong }: PartProps) {
  return (
    <Panel title={strings.evaluation}>
      <div className={pageStyles.form}>
        <NumberField
          label={<Term of="breach">{strings.breachingWindows}</Term>}
          min={1}
          max={16}
          required
          value={draft.windowsX}
          onChange={(event) => patch({ windowsX: event.currentTarget.value })}
          error={Number(draft.windowsX) > Number(draft.windowsY) ? strings.tooManyBreaching : wrong('windows_x')}
          w={150}
        />
        <NumberField
          label={strings.outOf}
          min={1}
          max={16}
          required
          value={draft.windowsY}
          onChange={(event) => patch({ windowsY: event.currentTarget.value })}
          error={wrong('windows_y')}
          w={120}
        />
        <NumberField
          label={strings.minimumVms}
          min={1}
          max={10_000}
          required
          value={draft.sourcesMin}
          onChange={(event) => patch({ sourcesMin: event.currentTarget.value })}
          error={wrong('sources_min')}
          w={160}
        />
        <NumberField
          label={<Term of="pending">{strings.pendingFor}</Term>}
          min={0}
          max={DAY_S}
          required
          value={draft.holdS}
          onChange={(event) => patch({ holdS: event.currentTarget.value })}
          error={wrong('hold_s')}
          w={150}
        />
        <NumberField
          label={<Term of="firing">{strings.keepFiringFor}</Term>}
          min={0}
          max={DAY_S}
          required
          value={draft.keepFiringS}
          onChange={(event) => patch({ keepFiringS: event.currentTarget.value })}
          error={wrong('keep_firing_s')}
          w={160}
        />
      </div>
    </Panel>
  )
}
