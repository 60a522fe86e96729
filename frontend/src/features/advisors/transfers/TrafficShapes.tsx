import { useQuery } from '@tanstack/react-query'
import { trafficShapesQuery } from '~/api/advisors'
import { formatShare } from '~/lib/performance'
import { formatCount, NO_VALUE, threeDigits } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { strings } from './strings'

/** The VMs of a mesh that send in bursts, as in a sort, and those that send steadily. */
export function TrafficShapes({ mesh }: { mesh: { id: string; name: string } }) {
  const query = useQuery(trafficShapesQuery(mesh.id))
  return (
    <Panel title={strings.shapes}>
      <p className={pageStyles.lead}>{strings.shapesLead(mesh.name)}</p>
      <QueryResult query={query} what={strings.shapesLower}>
        {(rows) =>
          rows.length === 0 ? (
            <p className={pageStyles.quiet}>{strings.noTraffic}</p>
          ) : (
            <Records
              low
              label={strings.shapes}
              rows={rows}
              id={({ vm }) => vm.id}
              columns={[
                { title: strings.host, cell: ({ vm }) => vm.name, as: 'head' },
                { title: strings.shape, cell: ({ shape }) => strings.shapeOf[shape] },
                {
                  title: strings.idle,
                  cell: ({ idle_share }) => (idle_share === null ? NO_VALUE : formatShare(idle_share)),
                  as: 'number',
                },
                {
                  title: strings.peak,
                  cell: ({ peak_to_mean }) => (peak_to_mean === null ? NO_VALUE : threeDigits(peak_to_mean)),
                  as: 'number',
                },
                { title: strings.windows, cell: ({ windows }) => formatCount(windows), as: 'number' },
              ]}
            />
          )
        }
      </QueryResult>
    </Panel>
  )
}
