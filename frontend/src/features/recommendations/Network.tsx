import type { Recommendation } from '~/api/types'
import { formatCount } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { type Column, Records } from '~/ui/Records'

type Arc = NonNullable<Recommendation['answer']['network']>[number]

const COLUMNS: Column<Arc>[] = [
  { title: 'From', as: 'head', cell: ({ tail }) => tail },
  { title: 'To', cell: ({ head }) => head },
  { title: 'Capacity', as: 'number', cell: ({ capacity }) => formatCount(capacity) },
  { title: 'Cost', as: 'number', cell: ({ cost }) => formatCount(cost) },
  { title: 'Flow', as: 'number', cell: ({ flow }) => formatCount(flow) },
]

/** The published network, solved: arcs that carry tasks first. */
export function Network({ arcs }: { arcs: readonly Arc[] }) {
  const used = arcs.filter(({ flow }) => flow > 0).length
  return (
    <Panel title="The network that was solved">
      <p className={pageStyles.lead}>
        {formatCount(arcs.length)} arcs, {formatCount(used)} of them carry tasks. T is a task (or several alike), U
        waiting, X the whole mesh, R a host, M a VM, S the sink; cost is 100 / performance.
      </p>
      <Records
        label="Arcs of the network"
        rows={[...arcs].sort((one, other) => Number(other.flow > 0) - Number(one.flow > 0))}
        id={({ tail, head }) => `${tail} ${head}`}
        columns={COLUMNS}
      />
    </Panel>
  )
}
