import { useQuery } from '@tanstack/react-query'
import { useEdits } from '~/api/access'
import { serverNow } from '~/api/connection'
import { simulationsQuery, useDeleteSimulation } from '~/api/simulations'
import type { Simulation } from '~/api/types'
import { actOnRows } from '~/lib/inTurn'
import { simulatedPolicy } from '~/lib/policies'
import { timeOf } from '~/lib/time'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Age } from '~/ui/Age'
import { CopyText } from '~/ui/CopyText'
import { useClock } from '~/ui/clock'
import { TextLink, WordLink } from '~/ui/links'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { Notice } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { best, formatHours } from './outcomes'
import { RunSimulation } from './RunSimulation'
import { strings } from './strings'

/** Reports of simulations of placement policies, and the form that starts one. */
export function SimulationsPage() {
  const clock = useClock()
  const query = useQuery(simulationsQuery)
  const remove = useDeleteSimulation()
  const edits = useEdits()
  if (!query.data) {
    return (
      <Unloaded
        query={query}
        title={strings.simulations}
        what={strings.simulationsLower}
        failed={strings.simulations}
      />
    )
  }
  if (query.data.length === 0) {
    return (
      <Page title={strings.simulations} lead={strings.simulationsLead}>
        <Notice tone="info" title={strings.noSimulations}>
          {strings.noSimulationsLead}
        </Notice>
        {edits && <RunSimulation />}
        <FromTerminal />
      </Page>
    )
  }
  return (
    <Page title={strings.simulations} lead={strings.simulationsLead}>
      <RecordList
        label={strings.simulations}
        rows={query.data}
        id={(simulation) => simulation.id}
        bulk={
          edits && {
            nouns: [strings.simulationNoun, strings.simulationsLower],
            name: ({ name }) => name,
            actions: [actOnRows(strings.delete, remove, strings.deleteSeveralEffect)],
          }
        }
        columns={[
          {
            title: strings.simulation,
            cell: (simulation) => (
              <TextLink to="/simulations/$simulationId" params={{ simulationId: simulation.id }}>
                {simulation.name}
              </TextLink>
            ),
            as: 'head',
            by: { key: 'name', value: (simulation) => simulation.name },
          },
          {
            title: strings.machines,
            cell: ({ world }) => formatCount(world.machines),
            as: 'number',
            by: { key: 'machines', value: ({ world }) => world.machines },
          },
          { title: strings.duration, cell: ({ world }) => formatHours(world.seconds), as: 'number' },
          { title: strings.policies, cell: (simulation) => formatCount(simulation.policies.length), as: 'number' },
          { title: strings.bestPolicyHeader, term: 'policy', cell: ({ policies }) => bestName(policies) },
          {
            title: strings.area,
            term: 'area',
            cell: ({ policies }) => `${best(policies)?.area_percent.toFixed(1)} %`,
            as: 'number',
          },
          {
            title: strings.created,
            cell: (simulation) => <Age at={simulation.created_at} clock={clock} now={serverNow} />,
            as: 'quiet',
            by: { key: 'created', value: (simulation) => timeOf(simulation.created_at) },
          },
        ]}
      />
      {edits && <RunSimulation />}
      <FromTerminal />
    </Page>
  )
}

function bestName(policies: Simulation['policies']): string {
  const top = best(policies)
  return top ? simulatedPolicy(top.policy).name : NO_VALUE
}

function FromTerminal() {
  const command = `SINEMORA_API_KEY=$KEY sinemora simulate --machines 12500 --trace google2011 --kept runs --upload ${window.location.origin} --name Trace`
  return (
    <Panel title={strings.fromTerminal}>
      <p className={pageStyles.lead}>
        {strings.fromTerminalLead} <WordLink to="/api-keys">{strings.apiKey}</WordLink> {strings.apiKeyScope}
      </p>
      <CopyText label={strings.runCommand} text={command} />
    </Panel>
  )
}
