import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import { simulationsQuery } from '~/api/simulations'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Age } from '~/ui/Age'
import { CopyText } from '~/ui/CopyText'
import { useClock } from '~/ui/clock'
import { Page, Panel } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Empty, Failed, Loading } from '~/ui/State'
import { best, formatHours } from './outcomes'

/** Simulations that were handed over: what placement policies are worth. */
export function SimulationsPage() {
  const clock = useClock()
  const found = useQuery(simulationsQuery)
  if (found.error && !found.data) {
    return <Failed what="The simulations" error={found.error} retry={() => void found.refetch()} />
  }
  if (!found.data) return <Loading what="simulations" />
  if (found.data.length === 0) {
    return (
      <Empty title="There is no simulation yet" action={<HandOver />}>
        A simulation runs a cluster through time under placement policies and says what its applications keep of their
        best performance. This one takes a minute or two; it wants an{' '}
        <Anchor inherit underline="always" renderRoot={(root) => <Link {...root} to="/api-keys" />}>
          API key
        </Anchor>{' '}
        that may write.
      </Empty>
    )
  }
  return (
    <Page
      title="Simulations"
      lead="A cluster through time under placement policies: what its applications keep of their best performance."
    >
      <Records
        label="Simulations"
        rows={found.data}
        id={(one) => one.id}
        columns={[
          {
            title: 'Simulation',
            cell: (one) => (
              <Anchor
                size="sm"
                renderRoot={(root) => (
                  <Link {...root} to="/simulations/$simulationId" params={{ simulationId: one.id }} />
                )}
              >
                {one.name}
              </Anchor>
            ),
            as: 'head',
          },
          { title: 'Machines', cell: ({ world }) => formatCount(world.machines), as: 'number' },
          { title: 'Lasts', cell: ({ world }) => formatHours(world.seconds), as: 'number' },
          { title: 'Policies', cell: (one) => formatCount(one.policies.length), as: 'number' },
          { title: 'Best', cell: ({ policies }) => best(policies)?.policy ?? NO_VALUE },
          { title: 'Its area', cell: ({ policies }) => `${best(policies)?.area_percent.toFixed(1)} %`, as: 'number' },
          { title: 'Made', cell: (one) => <Age at={one.created_at} clock={clock} now={serverNow} />, as: 'quiet' },
        ]}
      />
      <Panel title="Run another">
        <HandOver />
      </Panel>
    </Page>
  )
}

function HandOver() {
  const command = `SINEMORA_API_KEY=$KEY sinemora simulate --machines 192 --hours 1 --kept runs --upload ${window.location.origin} --name Trial`
  return <CopyText label="Command that runs a simulation" text={command} />
}
