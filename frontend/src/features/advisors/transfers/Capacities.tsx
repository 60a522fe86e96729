import type { TransferPlan } from '~/api/types'
import { threeDigits } from '~/lib/units'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { strings } from './strings'

/** The capacities of VMs that measurements give. */
export function Capacities({ rows }: { rows: TransferPlan['capacities'] }) {
  if (rows.length === 0) return <p className={pageStyles.lead}>{strings.noCapacity}</p>
  return (
    <>
      <p className={pageStyles.lead}>{strings.capacitiesLead}</p>
      <Records
        low
        label={strings.capacities}
        rows={rows}
        id={({ host, direction }) => `${host} ${direction}`}
        columns={[
          { title: strings.host, cell: ({ host }) => host, as: 'head' },
          { title: strings.direction, cell: ({ direction }) => strings.directions[direction] },
          { title: strings.measuredRate, cell: ({ gbit }) => `${threeDigits(1e3 * gbit)} Mbit/s`, as: 'number' },
          { title: strings.from, cell: ({ source }) => strings.sources[source] },
        ]}
      />
    </>
  )
}
