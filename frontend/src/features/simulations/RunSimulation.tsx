import { Button, Checkbox, MultiSelect, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { useFollowedJob } from '~/api/jobs'
import { useRunSimulation } from '~/api/simulations'
import type { SimulationRun } from '~/api/types'
import { SIMULATED_POLICIES, simulatedPolicy } from '~/lib/policies'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { NumberFields } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { ActionError, Notice } from '~/ui/State'
import { Term } from '~/ui/Term'
import { useMissing } from '~/ui/useMissing'
import { Waiting } from '~/ui/Waiting'
import { MixFields } from './MixFields'
import { PUBLISHED_MIX, weightsOf } from './mix'
import styles from './simulations.module.css'
import { strings } from './strings'

type Policy = SimulationRun['policies'][number]

const POLICY_OPTIONS = Object.entries(SIMULATED_POLICIES)
  .filter(([value]) => value !== 'nomora') // needs parameters
  .map(([value, { name }]) => ({ value, label: name }))
const FIRST_POLICIES: Policy[] = ['random', 'nomora_105_110', 'nomora_preempt_beta0', 'best']
/** Machines per rack and racks per pod: the source's small cluster, and the data centre of Facebook. */
const TOPOLOGIES = { '48/16': [48, 16], '192/48': [192, 48] } as const

const SIZES = [
  { name: 'machines', label: strings.machines, min: 2, max: 1_250, defaultValue: 192, w: 120 },
  { name: 'hours', label: strings.durationHours, min: 0.1, max: 24, step: 'any', defaultValue: 1, w: 140 },
]

const LOOK_BACK = <Term of="look-back">{strings.lookBackMinutes}</Term>
const ADVANCED = [
  { name: 'noise', label: strings.noisePercent, min: 0, max: 99, step: 'any', defaultValue: 0, w: 190 },
  { name: 'history_min', label: LOOK_BACK, min: 0, max: 1_440, defaultValue: 0, w: 190 },
  { name: 'move_cost', label: strings.moveCostPoints, min: 0, max: 100, step: 'any', defaultValue: 1, w: 220 },
  { name: 'moves_max', label: strings.movesPerRound, min: 0, max: 1_000_000, w: 220 },
  { name: 'roots', label: strings.rootsPerJob, min: 1, max: 16, defaultValue: 1, w: 190 },
  { name: 'seed', label: strings.seed, min: 0, defaultValue: 1, w: 100 },
]

/** Start a simulation, follow its job, and open the report. */
export function RunSimulation() {
  const run = useRunSimulation()
  const [jobId, setJobId] = useState<string | null>(null)
  const [policies, setPolicies] = useState<string[]>(FIRST_POLICIES)
  const [mix, setMix] = useState(PUBLISHED_MIX)
  const missing = useMissing({
    policies: policies.length === 0 ? strings.choosePolicy : null,
    mix: Object.keys(weightsOf(mix)).length === 0 ? strings.enterShare : null,
  })

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!missing.isComplete) return // the fields say so
    const form = new FormData(event.currentTarget)
    const number = (name: string) => Number(form.get(name))
    const [rack_size, pod_racks] = TOPOLOGIES[form.get('topology') as keyof typeof TOPOLOGIES]
    run.mutate(
      {
        name: String(form.get('name')),
        policies: policies as Policy[],
        machines: number('machines'),
        hours: number('hours'),
        rack_size,
        pod_racks,
        mix: weightsOf(mix),
        roots: number('roots'),
        noise: number('noise') / 100,
        history_s: number('history_min') * 60,
        move_cost: number('move_cost') / 100,
        moves_max: form.get('moves_max') ? number('moves_max') : null,
        start_at_random: form.get('start_at_random') !== null,
        seed: number('seed'),
        preemption: false,
      },
      { onSuccess: ({ id }) => setJobId(id) },
    )
  }

  return (
    <Panel title={strings.runSimulation}>
      <form onSubmit={submit}>
        <div className={pageStyles.form}>
          <TextInput name="name" label={strings.name} defaultValue={strings.trial} required {...longest(100)} />
          <NumberFields fields={SIZES} />
          <Choice
            name="topology"
            label={strings.topology}
            data={Object.entries(TOPOLOGIES).map(([value, [rack, pod]]) => ({
              value,
              label: strings.racksAndPods(String(rack), String(pod)),
            }))}
          />
          <MultiSelect
            label={<Term of="policy">{strings.policies}</Term>}
            data={POLICY_OPTIONS}
            value={policies}
            onChange={setPolicies}
            error={missing.at('policies')}
            className={styles.choice}
          />
        </div>
        <details className={styles.advanced}>
          <summary>{strings.advanced}</summary>
          <div className={pageStyles.form}>
            <NumberFields fields={ADVANCED} />
            <Checkbox name="start_at_random" label={strings.startAtRandom} />
          </div>
          <MixFields mix={mix} onChange={setMix} error={missing.at('mix')} />
        </details>
        <Button type="submit" loading={run.isPending} onClick={missing.onAttempt} mt="sm">
          {strings.simulate}
        </Button>
      </form>
      <ActionError error={run.error} />
      {jobId && <Progress key={jobId} jobId={jobId} />}
    </Panel>
  )
}

/** Return a note of the job with the name of the policy in place of its identifier: `random: step 24 of 60`. */
function named(note: string): string {
  const [policy = '', ...rest] = note.split(': ')
  return [simulatedPolicy(policy).name, ...rest].join(': ')
}

function Progress({ jobId }: { jobId: string }) {
  const navigate = useNavigate()
  const { job, error, waiting } = useFollowedJob(jobId)
  const simulationId = job?.result?.simulation_id
  useEffect(() => {
    if (typeof simulationId === 'string') void navigate({ to: '/simulations/$simulationId', params: { simulationId } })
  }, [simulationId, navigate])
  if (error) return <ActionError error={error} />
  if (job?.problem) return <Notice tone="bad">{job.problem.detail}</Notice>
  if (job?.state === 'cancelled') return <Notice tone="info">{strings.cancelled}</Notice>
  if (!waiting) return null
  return (
    <>
      <Waiting what={strings.simulationLower} waiting={waiting} />
      {job?.note && <p className={pageStyles.lead}>{named(job.note)}</p>}
    </>
  )
}
