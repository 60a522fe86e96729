import { useQuery } from '@tanstack/react-query'
import { tailsQuery } from '~/api/advisors'
import { meshesQuery } from '~/api/meshes'
import { named } from '~/lib/options'
import { formatDelay, NO_VALUE } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { WordLink } from '~/ui/links'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { Notice } from '~/ui/State'
import { Connections } from './Connections'
import { strings } from './strings'

/** The retransmission tail in the metric sources of a mesh. */
export function Tails({ meshId, onMesh }: { meshId: string | undefined; onMesh: (id: string) => void }) {
  const meshes = useQuery(meshesQuery)
  const mesh = meshes.data?.find(({ id }) => id === meshId) ?? meshes.data?.[0]
  return (
    <Panel title={strings.tails}>
      <p className={pageStyles.lead}>{strings.tailsLead}</p>
      {mesh && (
        <>
          <div className={pageStyles.form}>
            <Choice label={strings.mesh} value={mesh.id} data={named(meshes.data)} onChange={onMesh} />
          </div>
          <Sources mesh={mesh.id} />
          <h3>{strings.connections}</h3>
          <Connections mesh={mesh.id} />
        </>
      )}
    </Panel>
  )
}

function Sources({ mesh }: { mesh: string }) {
  const query = useQuery(tailsQuery(mesh))
  return (
    <QueryResult query={query} what={strings.metricSourcesLower}>
      {(rows) =>
        rows.length === 0 ? (
          <Notice tone="info" title={strings.noSources}>
            {strings.noSourcesLead} <WordLink to="/curves/learning">{strings.addSource}</WordLink>
          </Notice>
        ) : (
          <Records
            label={strings.tails}
            rows={rows}
            id={({ metric_source_id: source }) => source}
            columns={[
              { title: strings.source, cell: ({ name }) => name, as: 'head' },
              { title: strings.verdict, cell: ({ found }) => (found ? strings.yes : strings.no) },
              { title: strings.evidence, cell: ({ evidence }) => evidence, as: 'wrap' },
              {
                title: strings.cost,
                cell: ({ mean_cost_ms: cost }) => (cost === null ? NO_VALUE : formatDelay(1e6 * cost)),
                as: 'number',
              },
            ]}
          />
        )
      }
    </QueryResult>
  )
}
