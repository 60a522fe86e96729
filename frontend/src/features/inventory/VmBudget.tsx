import { useQuery } from '@tanstack/react-query'
import { vmPathsQuery } from '~/api/inventory'
import { latencyBudgetsQuery } from '~/api/latencyBudgets'
import { useWaiting } from '~/api/waiting'
import { LatencyBudget } from '~/ui/LatencyBudget'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { useTime } from '~/ui/time'
import { strings } from './strings'

/** Where the delays from and to a VM come from, mesh by mesh: medians over its paths. */
export function VmBudget({ vmId }: { vmId: string }) {
  const { data } = useQuery(vmPathsQuery(vmId))
  return data?.meshes.map(({ mesh }) => <InMesh key={mesh.id} vmId={vmId} mesh={mesh} />)
}

function InMesh({ vmId, mesh }: { vmId: string; mesh: { id: string; name: string } }) {
  const selections = [`from:${vmId}`, `to:${vmId}`]
  const options = latencyBudgetsQuery(mesh.id, { selections, time: useTime(), span: '1h' })
  const query = useQuery(options)
  return (
    <Panel title={strings.budgetIn(mesh.name)} term="latency budget">
      <QueryResult query={query} waiting={useWaiting(options.queryKey)} what={strings.budgetLower}>
        {({ items, reference, published_source }) => (
          <div className={pageStyles.stack}>
            {items.map((item, at) => (
              <section key={item.selection} className={pageStyles.stack}>
                <h3>{at === 0 ? strings.outbound : strings.inbound}</h3>
                <LatencyBudget brief budget={item} reference={reference} publishedSource={published_source} />
              </section>
            ))}
          </div>
        )}
      </QueryResult>
    </Panel>
  )
}
