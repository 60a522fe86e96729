import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useEdits } from '~/api/access'
import { simulationQuery, useDeleteSimulation } from '~/api/simulations'
import type { PolicyOutcome, SimulationDetail } from '~/api/types'
import { CurveChart } from '~/charts/curve/CurveChart'
import { labelled } from '~/lib/options'
import { formatPoints, formatShare } from '~/lib/performance'
import { simulatedPolicy } from '~/lib/policies'
import { formatMoment } from '~/lib/time'
import { formatCount, formatWhole, NO_VALUE } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { DeleteButton } from '~/ui/DeleteButton'
import { LineKey } from '~/ui/LineKey'
import { lineStyle } from '~/ui/lineStyle'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import { Records } from '~/ui/Records'
import { Failed } from '~/ui/State'
import { Term } from '~/ui/Term'
import {
  best,
  decade,
  decades,
  distributionOf,
  formatHours,
  formatSeconds,
  formatTail,
  lowestScore,
  type Measure,
  measuresOf,
  valuesOf,
} from './outcomes'
import styles from './simulations.module.css'
import { strings } from './strings'

/** The report of one simulation: results of each policy, and the parameters. */
export function SimulationPage({ simulationId }: { simulationId: string }) {
  const clock = useClock()
  const { data: simulation, error, refetch } = useQuery(simulationQuery(simulationId))
  if (error && !simulation) return <Failed what={strings.theSimulation} error={error} retry={() => void refetch()} />
  if (!simulation) return <LoadingPage title={strings.simulation} what={strings.simulationLower} />
  const createdAt = new Date(simulation.created_at)
  return (
    <Page
      title={simulation.name}
      lead={strings.simulationSummary(
        formatCount(simulation.world.machines),
        formatHours(simulation.world.seconds),
        formatMoment(createdAt, clock),
      )}
      action={<DeleteSimulation simulation={simulation} />}
    >
      <Distributions policies={simulation.policies} />
      <Outcomes policies={simulation.policies} />
      <Panel title={strings.parameters}>
        <World world={simulation.world} />
      </Panel>
    </Page>
  )
}

function Distributions({ policies }: { policies: PolicyOutcome[] }) {
  const [measure, setMeasure] = useState<Measure>('scores')
  const measures = measuresOf(policies)
  return (
    <Panel title={strings.distributions}>
      {measures.length > 1 && (
        <Select
          label={strings.distributionOf}
          data={labelled(strings.measures, measures)}
          value={measure}
          onChange={(value) => setMeasure(value as Measure)}
          allowDeselect={false}
          maw={360}
        />
      )}
      <Distribution policies={policies} measure={measure} />
    </Panel>
  )
}

function Distribution({ policies, measure }: { policies: PolicyOutcome[]; measure: Measure }) {
  const top = best(policies)
  const title = strings.measures[measure]
  const share = measure === 'scores' || measure === 'moved_share'
  const scale = share ? (value: number) => value : decade
  const lines = policies
    .map((outcome, n) => ({ n, policy: outcome.policy, values: valuesOf(outcome, measure) }))
    .filter(({ values }) => values.length > 0)
  const all = lines.flatMap(({ values }) => values)
  const range: [number, number] =
    measure === 'scores'
      ? [lowestScore(policies), 1]
      : share
        ? [0, Math.min(1, Math.ceil(Math.max(0.01, ...all) * 20) / 20)]
        : decades(all)
  const [axis, heights] = strings.axes[measure]
  return (
    <>
      <div>
        <PictureMenu title={title} />
      </div>
      <CurveChart
        label={
          measure === 'scores'
            ? strings.distributionSummary(
                formatCount(policies.length),
                top ? strings.bestPolicy(simulatedPolicy(top.policy).name, top.area_percent.toFixed(1)) : '',
              )
            : strings.otherSummary(title, formatCount(lines.length))
        }
        height={320}
        lines={lines.map(({ n, policy, values }) => ({
          key: policy,
          label: policy,
          ...lineStyle(n),
          ...distributionOf(values.map(scale)),
        }))}
        x={range}
        y={[0, 1]}
        xLabel={axis}
        formatX={share ? formatWhole : (value) => formatSeconds(10 ** value)}
        formatY={formatWhole}
      />
      <ul className={styles.legend} aria-label={strings.lines}>
        {lines.map(({ n, policy }) => (
          <li key={policy}>
            <LineKey n={n} />
            {simulatedPolicy(policy).name}
          </li>
        ))}
      </ul>
      <p className={pageStyles.quiet}>{heights}</p>
    </>
  )
}

function Outcomes({ policies }: { policies: PolicyOutcome[] }) {
  return (
    <>
      <Records
        label={strings.policies}
        rows={policies}
        id={({ policy }) => policy}
        columns={[
          {
            title: strings.policy,
            term: 'policy',
            cell: ({ policy }, n) => (
              <>
                <LineKey n={n} />
                {simulatedPolicy(policy).name}
              </>
            ),
            as: 'head',
          },
          {
            title: strings.area,
            term: 'area',
            cell: (outcome) => `${outcome.area_percent.toFixed(1)} %`,
            as: 'number',
          },
          {
            title: strings.plainArea,
            cell: ({ plain_area_percent: plain }) => (plain == null ? NO_VALUE : `${plain.toFixed(1)} %`),
            as: 'number',
          },
          {
            title: strings.publishedArea,
            cell: (outcome) => (outcome.source_percent === null ? NO_VALUE : `${outcome.source_percent.toFixed(1)} %`),
            as: 'number',
          },
          {
            title: strings.worstJob,
            cell: (outcome) => (outcome.jobs ? formatShare(outcome.worst_job) : NO_VALUE),
            as: 'number',
          },
          {
            title: strings.tasksMoved,
            cell: (outcome) => (outcome.moved_share ? `${(outcome.moved_share_mean * 100).toFixed(2)} %` : NO_VALUE),
            as: 'number',
          },
          { title: strings.solverStep, cell: (outcome) => formatTail(outcome.solver_s), as: 'number' },
          { title: strings.solverRound, cell: (outcome) => formatTail(outcome.round_s), as: 'number' },
          { title: strings.placementDelay, cell: (outcome) => formatTail(outcome.placement_latency_s), as: 'number' },
          { title: strings.responseTime, cell: (outcome) => formatTail(outcome.response_s), as: 'number' },
        ]}
      />
      <ul className={styles.policies} aria-label={strings.meanings}>
        {policies.map(({ policy }) => {
          const { name, line } = simulatedPolicy(policy)
          return (
            <li key={policy} className={pageStyles.lead}>
              <strong>{name}</strong> ({policy}): {line}
            </li>
          )
        })}
      </ul>
      <p className={pageStyles.lead}>{strings.policiesExplained}</p>
    </>
  )
}

function World({ world }: { world: SimulationDetail['world'] }) {
  return (
    <dl className={pageStyles.facts}>
      <Fact term={strings.jobs}>{world.trace ? strings.jobsFromTrace(world.trace) : strings.drawn}</Fact>
      <Fact term={strings.latency}>
        {world.latency
          ? strings.latencyTraces(world.latency)
          : strings.latencyGenerated(world.statistics ?? strings.publishedStatistics)}
      </Fact>
      <Fact term={strings.machines}>
        {strings.machinesAndSlots(formatCount(world.machines), formatCount(world.slots))}
      </Fact>
      <Fact term={strings.topology}>
        {strings.racksAndPods(formatCount(world.rack_size), formatCount(world.pod_racks))}
      </Fact>
      <Fact term={strings.mix}>
        {Object.entries(world.mix)
          .sort(([, one], [, other]) => other - one)
          .map(([curve, share]) => `${curve} ${formatWhole(share)}`)
          .join(', ')}
      </Fact>
      <Fact term={strings.jobsOfStart}>{world.start_at_random ? strings.placedAtRandom : strings.placedByPolicy}</Fact>
      <Fact term={strings.duration}>{formatHours(world.seconds)}</Fact>
      <Fact term={strings.step}>{formatSeconds(world.step_s)}</Fact>
      <Fact term={strings.moveInterval}>{formatSeconds(world.round_s)}</Fact>
      <Fact term={strings.measuredOver}>{formatSeconds(world.window_s)}</Fact>
      <Fact term={<Term of="look-back">{strings.lookBack}</Term>}>
        {world.history_s > world.window_s ? formatSeconds(world.history_s) : strings.newestWindow}
      </Fact>
      <Fact term={strings.measurementNoise}>{world.noise ? `±${(world.noise * 100).toFixed(0)} %` : strings.none}</Fact>
      {world.move_cost != null && (
        <Fact term={strings.moveCost}>
          {strings.moveCostValue(formatPoints(world.move_cost), world.moves_max ?? null)}
        </Fact>
      )}
      {world.move_price != null && (
        <Fact term={<Term of="cost point">{strings.movePrice}</Term>}>
          {strings.costPoints(formatCount(world.move_price))}
        </Fact>
      )}
      {world.nomora && (
        <Fact term={strings.nomoraParameters}>
          {strings.nomoraValues(world.nomora, world.preemption ? strings.withPreemption : strings.withoutPreemption)}
        </Fact>
      )}
      {world.roots > 1 && <Fact term={strings.rootsPerJob}>{strings.nearestRoot(formatCount(world.roots))}</Fact>}
      <Fact term={strings.seed}>{world.seed}</Fact>
      {world.version && world.inputs && (
        <Fact term={strings.madeBy}>{strings.codeAndInputs(world.version, world.code ?? NO_VALUE, world.inputs)}</Fact>
      )}
    </dl>
  )
}

function Fact({ term, children }: { term: ReactNode; children: ReactNode }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function DeleteSimulation({ simulation }: { simulation: SimulationDetail }) {
  const navigate = useNavigate()
  const forget = useDeleteSimulation()
  const edits = useEdits()
  if (!edits) return null
  return (
    <DeleteButton
      name={simulation.name}
      id={simulation.id}
      doing={forget}
      onDone={() => void navigate({ to: '/simulations' })}
    >
      {strings.deleteEffect}
    </DeleteButton>
  )
}
