import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useEdits } from '~/api/access'
import { simulationQuery, useDeleteSimulation } from '~/api/simulations'
import type { PolicyOutcome, SimulationDetail } from '~/api/types'
import { CurveChart } from '~/charts/curve/CurveChart'
import { formatShare } from '~/lib/performance'
import { policyOf, SIMULATED_POLICIES } from '~/lib/policies'
import { formatMoment, zoneName } from '~/lib/time'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { LineKey } from '~/ui/LineKey'
import { lineStyle } from '~/ui/lineStyle'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import { Records } from '~/ui/Records'
import { Failed, Loading } from '~/ui/State'
import { Term } from '~/ui/Term'
import { best, distributionOf, formatHours, formatSeconds, formatTail, lowestScore } from './outcomes'
import styles from './simulations.module.css'
import { strings } from './strings'

const percent = (share: number) => `${Math.round(share * 100)} %`

/** The report of one simulation: results of each policy, and the parameters. */
export function SimulationPage({ simulationId }: { simulationId: string }) {
  const clock = useClock()
  const { data: simulation, error, refetch } = useQuery(simulationQuery(simulationId))
  if (error && !simulation) return <Failed what={strings.theSimulation} error={error} retry={() => void refetch()} />
  if (!simulation) return <Loading what={strings.simulationLower} />
  const createdAt = new Date(simulation.created_at)
  return (
    <Page
      title={simulation.name}
      lead={strings.simulationSummary(
        formatCount(simulation.world.machines),
        formatHours(simulation.world.seconds),
        formatMoment(createdAt, clock),
        zoneName(clock, createdAt),
      )}
      action={<DeleteSimulation simulation={simulation} />}
    >
      <Panel title={strings.averagePerformance}>
        <Distribution policies={simulation.policies} />
      </Panel>
      <Outcomes policies={simulation.policies} />
      <Panel title={strings.parameters}>
        <World world={simulation.world} />
      </Panel>
    </Page>
  )
}

function Distribution({ policies }: { policies: PolicyOutcome[] }) {
  const top = best(policies)
  return (
    <>
      <div>
        <PictureMenu title={strings.averagePerformance} />
      </div>
      <CurveChart
        label={strings.distributionSummary(
          formatCount(policies.length),
          top ? strings.bestPolicy(policyOf(SIMULATED_POLICIES, top.policy).name, top.area_percent.toFixed(1)) : '',
        )}
        height={320}
        lines={policies.map((outcome, n) => ({
          key: outcome.policy,
          label: outcome.policy,
          ...lineStyle(n),
          ...distributionOf(outcome),
        }))}
        x={[lowestScore(policies), 1]}
        y={[0, 1]}
        xLabel={strings.distributionAxes}
        formatX={percent}
        formatY={percent}
      />
      <ul className={styles.legend} aria-label={strings.lines}>
        {policies.map(({ policy }, n) => (
          <li key={policy}>
            <LineKey n={n} />
            {policyOf(SIMULATED_POLICIES, policy).name}
          </li>
        ))}
      </ul>
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
                {policyOf(SIMULATED_POLICIES, policy).name}
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
          const { name, line } = policyOf(SIMULATED_POLICIES, policy)
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
      <Fact term={strings.duration}>{formatHours(world.seconds)}</Fact>
      <Fact term={strings.step}>{formatSeconds(world.step_s)}</Fact>
      <Fact term={strings.moveInterval}>{formatSeconds(world.round_s)}</Fact>
      <Fact term={strings.measuredOver}>{formatSeconds(world.window_s)}</Fact>
      <Fact term={<Term of="look-back">{strings.lookBack}</Term>}>{formatSeconds(world.history_s)}</Fact>
      <Fact term={strings.measurementNoise}>{world.noise ? `±${(world.noise * 100).toFixed(0)} %` : strings.none}</Fact>
      <Fact term={<Term of="cost point">{strings.movePrice}</Term>}>
        {strings.costPoints(formatCount(world.move_price))}
      </Fact>
      <Fact term={strings.seed}>{world.seed}</Fact>
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
  const [asking, setAsking] = useState(false)
  const edits = useEdits()
  if (!edits) return null
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {strings.deleteEllipsis}
      </Button>
      <Confirm
        title={strings.deleteName(simulation.name)}
        action={strings.delete}
        about={asking ? simulation.id : null}
        doing={forget}
        onClose={() => setAsking(false)}
        onDone={() => void navigate({ to: '/simulations' })}
      >
        {strings.deleteEffect}
      </Confirm>
    </>
  )
}
