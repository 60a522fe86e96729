import { Button, Checkbox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { EditorsOnly } from '~/api/EditorsOnly'
import { type PlanSettings, useUpdateMesh } from '~/api/meshes'
import type { Mesh, Strategy } from '~/api/types'
import { changedFields } from '~/lib/edited'
import { labelled } from '~/lib/options'
import { Problem } from '~/lib/problem'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { Choice } from '~/ui/Choice'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { useEdited } from '~/ui/useEdited'
import { Adoption } from './Adoption'
import { Comparison } from './Comparison'
import { strings } from './strings'

const TYPING_MS = 300
const STRATEGIES = Object.keys(strings.strategies) as Strategy[]

interface Fields {
  strategy: Strategy
  period: string
  representatives: string
  ownPrices: boolean
  betweenZones: string
  betweenRegions: string
}

/** The settings that are saved; prices only serve the comparison. */
const planOf = (mesh: Mesh): Pick<Fields, 'strategy' | 'period' | 'representatives'> => ({
  strategy: mesh.strategy,
  period: String(mesh.period_windows),
  representatives: String(mesh.representatives),
})

const planLines = ({ strategy, period, representatives }: ReturnType<typeof planOf>) => ({
  [strings.strategy]: strings.strategies[strategy],
  [strings.period]: period,
  [strings.representatives]: representatives,
})

const inRange = (text: string, low: number, high: number, otherwise: number) => {
  const value = Number(text)
  return text !== '' && value >= low && value <= high ? value : otherwise
}

/** Return the settings that the fields describe; a value outside its limits is that of the mesh until it is right. */
function settingsOf(mesh: Mesh, fields: Fields): PlanSettings {
  return {
    window_s: mesh.window_s,
    rate_hz: mesh.rate_hz as PlanSettings['rate_hz'],
    period_windows: Math.round(inRange(fields.period, 2, 60, mesh.period_windows)),
    representatives: Math.round(inRange(fields.representatives, 1, 16, mesh.representatives)),
    prices: fields.ownPrices
      ? {
          between_zones: inRange(fields.betweenZones, 0, 100, 0),
          between_regions: inRange(fields.betweenRegions, 0, 100, 0),
        }
      : null,
  }
}

/** Which pairs a mesh measures in which window: the choice, its cost before it is applied, and who follows it. */
export function ProbePlan({ mesh, etag }: { mesh: Mesh; etag: string }) {
  const edited = useEdited(planOf(mesh), etag, planLines)
  const update = useUpdateMesh(mesh.id, edited.version)
  const [fields, setFields] = useState<Fields>({
    ...edited.initial,
    ownPrices: false,
    betweenZones: '0.01',
    betweenRegions: '0.02',
  })
  const [settled] = useDebouncedValue(fields, TYPING_MS)
  const typed = () => ({ strategy: fields.strategy, period: fields.period, representatives: fields.representatives })
  const set = (patch: Partial<Fields>) => setFields((old) => ({ ...old, ...patch }))
  const problem = (name: string) => (update.error instanceof Problem ? update.error.field(name) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const { period_windows, representatives } = settingsOf(mesh, fields)
    const plan = {
      strategy: fields.strategy,
      period: String(period_windows),
      representatives: String(representatives),
    }
    const { strategy, period, representatives: count } = changedFields(edited.before, plan)
    update.mutate(
      {
        ...(strategy && { strategy }),
        ...(period && { period_windows }),
        ...(count && { representatives }),
      },
      { onSuccess: () => edited.saved(plan) },
    )
  }

  const number = (name: 'period' | 'representatives' | 'betweenZones' | 'betweenRegions') => ({
    value: fields[name],
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
    required: true,
    withAsterisk: false,
    w: 190,
  })

  return (
    <Panel title={strings.probePlan} term="probe plan">
      <form className={pageStyles.form} onSubmit={submit}>
        <Choice
          label={strings.strategy}
          description={strings.hints[fields.strategy]}
          data={labelled(strings.strategies, STRATEGIES)}
          value={fields.strategy}
          onChange={(strategy) => set({ strategy })}
          error={problem('strategy')}
          w={300}
        />
        {fields.strategy !== 'full' && (
          <NumberField
            label={strings.period}
            description={strings.periodMeaning}
            min={2}
            max={60}
            error={problem('period_windows')}
            {...number('period')}
          />
        )}
        {fields.strategy === 'zones' && (
          <NumberField
            label={strings.representatives}
            description={strings.representativesMeaning}
            min={1}
            max={16}
            error={problem('representatives')}
            {...number('representatives')}
          />
        )}
        <EditorsOnly>
          <Button type="submit" size="sm" loading={update.isPending}>
            {strings.save}
          </Button>
        </EditorsOnly>
      </form>
      {update.isSuccess && <Notice tone="good">{strings.saved}</Notice>}
      <ChangedMeanwhile edited={edited} error={update.error} typed={typed} onFilled={set} />
      <Adoption meshId={mesh.id} />
      <div className={pageStyles.form}>
        <Checkbox
          label={strings.ownPrices}
          checked={fields.ownPrices}
          onChange={(event) => set({ ownPrices: event.currentTarget.checked })}
        />
        {fields.ownPrices && (
          <>
            <NumberField label={strings.betweenZones} min={0} max={100} step="any" {...number('betweenZones')} />
            <NumberField label={strings.betweenRegions} min={0} max={100} step="any" {...number('betweenRegions')} />
          </>
        )}
      </div>
      <Comparison mesh={mesh} settings={settingsOf(mesh, settled)} chosen={fields.strategy} />
    </Panel>
  )
}
