import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { simulationQuery, useDeleteSimulation } from '~/api/simulations'
import type { PolicyOutcome, SimulationDetail } from '~/api/types'
import { CurveChart } from '~/charts/curve/CurveChart'
import { formatShare } from '~/lib/performance'
import { formatMoment, zoneName } from '~/lib/time'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { LineKey } from '~/ui/LineKey'
import { lineStyle } from '~/ui/lineStyle'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Failed, Loading } from '~/ui/State'
import { useEdits } from '../session/useEdits'
import { best, distributionOf, formatHours, formatSeconds, formatTail, lowestScore } from './outcomes'
import styles from './simulations.module.css'

const percent = (share: number) => `${Math.round(share * 100)} %`

/** The report of one simulation: what each policy came to, and in which world. */
export function SimulationPage({ simulationId }: { simulationId: string }) {
  const clock = useClock()
  const { data: found, error, refetch } = useQuery(simulationQuery(simulationId))
  if (error && !found) return <Failed what="This simulation" error={error} retry={() => void refetch()} />
  if (!found) return <Loading what="the simulation" />
  const made = new Date(found.created_at)
  return (
    <Page
      title={found.name}
      lead={`${formatCount(found.world.machines)} machines through ${formatHours(found.world.seconds)}; handed over ${formatMoment(made, clock)} ${zoneName(clock, made)}.`}
      action={<Forget found={found} />}
    >
      <Panel title="Average application performance">
        <Distribution policies={found.policies} />
      </Panel>
      <Outcomes policies={found.policies} />
      <Panel title="World">
        <World world={found.world} />
      </Panel>
    </Page>
  )
}

function Distribution({ policies }: { policies: PolicyOutcome[] }) {
  const top = best(policies)
  return (
    <>
      <CurveChart
        label={`Distribution of average application performance over jobs under ${formatCount(policies.length)} policies${top ? `; ${top.policy} keeps most, ${top.area_percent.toFixed(1)} %` : ''}. The table below has the areas.`}
        height={320}
        lines={policies.map((one, n) => ({ key: one.policy, ...lineStyle(n), ...distributionOf(one) }))}
        x={[lowestScore(policies), 1]}
        y={[0, 1]}
        xLabel="mean performance of a job over its life; share of jobs at or below"
        formatX={percent}
        formatY={percent}
      />
      <ul className={styles.legend} aria-label="Lines">
        {policies.map(({ policy }, n) => (
          <li key={policy}>
            <LineKey n={n} />
            {policy}
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
        label="Policies"
        rows={policies}
        id={({ policy }) => policy}
        columns={[
          {
            title: 'Policy',
            cell: ({ policy }, n) => (
              <>
                <LineKey n={n} />
                {policy}
              </>
            ),
            as: 'head',
          },
          { title: 'Area', cell: (one) => `${one.area_percent.toFixed(1)} %`, as: 'number' },
          {
            title: 'Source',
            cell: (one) => (one.source_percent === null ? NO_VALUE : `${one.source_percent.toFixed(1)} %`),
            as: 'number',
          },
          { title: 'Worst', cell: (one) => (one.jobs ? formatShare(one.worst_job) : NO_VALUE), as: 'number' },
          {
            title: 'Moved',
            cell: (one) => (one.moved_share ? `${(one.moved_share_mean * 100).toFixed(2)} %` : NO_VALUE),
            as: 'number',
          },
          { title: 'Solver, a step', cell: (one) => formatTail(one.solver_s), as: 'number' },
          { title: 'Solver, a round', cell: (one) => formatTail(one.round_s), as: 'number' },
          { title: 'Placed after', cell: (one) => formatTail(one.placement_latency_s), as: 'number' },
          { title: 'Response', cell: (one) => formatTail(one.response_s), as: 'number' },
        ]}
      />
      <p className={pageStyles.lead}>
        The area above a line is what all jobs keep on average: 100 % is every job at its best; beside it what the
        source of the published policies reports, the worst job, and the share of tasks that a round moves. Times are
        the median and the 99th percentile: of the solver for what came in a step and for a round of moves, of a job
        from its coming to its places, and to the end of its last task.
      </p>
    </>
  )
}

function World({ world }: { world: SimulationDetail['world'] }) {
  return (
    <dl className={pageStyles.facts}>
      <Fact term="Jobs">{world.trace ? `trace ${world.trace}` : 'drawn'}</Fact>
      <Fact term="Latency">
        {world.latency ? `traces ${world.latency}` : `drawn with ${world.statistics ?? 'published'} statistics`}
      </Fact>
      <Fact term="Machines">
        {formatCount(world.machines)} of {formatCount(world.slots)} slots
      </Fact>
      <Fact term="Time">{formatHours(world.seconds)}</Fact>
      <Fact term="Step">{formatSeconds(world.step_s)}</Fact>
      <Fact term="Moves every">{formatSeconds(world.round_s)}</Fact>
      <Fact term="Measured over">{formatSeconds(world.window_s)}</Fact>
      <Fact term="Look back for moves with a price">{formatSeconds(world.history_s)}</Fact>
      <Fact term="Noise of a measurement">{world.noise ? `±${(world.noise * 100).toFixed(0)} %` : 'none'}</Fact>
      <Fact term="Price of a move">{formatCount(world.move_price)} cost points</Fact>
      <Fact term="Seed">{world.seed}</Fact>
    </dl>
  )
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Forget({ found }: { found: SimulationDetail }) {
  const navigate = useNavigate()
  const forget = useDeleteSimulation()
  const [asking, setAsking] = useState(false)
  const edits = useEdits()
  if (!edits) return null
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        Forget…
      </Button>
      <Confirm
        title={`Forget ${found.name}`}
        action="Forget"
        about={asking ? found.id : null}
        doing={forget}
        onClose={() => setAsking(false)}
        onDone={() => void navigate({ to: '/simulations' })}
      >
        The report is gone from here; what was written where it ran stays.
      </Confirm>
    </>
  )
}
