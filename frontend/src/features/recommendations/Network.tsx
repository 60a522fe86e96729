import type { Recommendation } from '~/api/types'
import { formatCount } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { type Column, Records } from '~/ui/Records'
import { strings } from './strings'

type Arc = NonNullable<Recommendation['result']['network']>[number]

const COLUMNS: Column<Arc>[] = [
  { title: strings.from, as: 'head', cell: ({ tail }) => tail },
  { title: strings.to, cell: ({ head }) => head },
  { title: strings.capacity, as: 'number', cell: ({ capacity }) => formatCount(capacity) },
  { title: strings.cost, as: 'number', cell: ({ cost }) => formatCount(cost) },
  { title: strings.flow, as: 'number', cell: ({ flow }) => formatCount(flow) },
]

/** The published network, solved: arcs that carry tasks first. */
export function Network({ arcs }: { arcs: readonly Arc[] }) {
  const used = arcs.filter(({ flow }) => flow > 0).length
  return (
    <Panel title={strings.flowNetwork}>
      <p className={pageStyles.lead}>{strings.networkSummary(formatCount(arcs.length), formatCount(used))}</p>
      <Records
        label={strings.arcsOfNetwork}
        rows={[...arcs].sort((arc, other) => Number(other.flow > 0) - Number(arc.flow > 0))}
        id={({ tail, head }) => `${tail} ${head}`}
        columns={COLUMNS}
      />
    </Panel>
  )
}
