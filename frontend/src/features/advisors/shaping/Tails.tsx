import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { tailsQuery } from '~/api/advisors'
import { meshesQuery } from '~/api/meshes'
import { formatDelay, NO_VALUE } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Notice } from '~/ui/State'
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
            <NativeSelect
              label={strings.mesh}
              value={mesh.id}
              data={(meshes.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
              onChange={({ currentTarget }) => onMesh(currentTarget.value)}
            />
          </div>
          <Sources mesh={mesh.id} />
        </>
      )}
    </Panel>
  )
}

function Sources({ mesh }: { mesh: string }) {
  const query = useQuery(tailsQuery(mesh))
  return (
    <QueryResult query={query} what={strings.tailsLower}>
      {(rows) =>
        rows.length === 0 ? (
          <Notice tone="info" title={strings.noSources}>
            {strings.noSourcesLead}
          </Notice>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
          <section className={pageStyles.scroll} tabIndex={0} aria-label={strings.tails}>
            <table className={pageStyles.table} aria-label={strings.tails}>
              <thead>
                <tr>
                  {[strings.source, strings.verdict, strings.evidence, strings.cost].map((title) => (
                    <th key={title} scope="col">
                      {title}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row.metric_source_id}>
                    <th scope="row">{row.name}</th>
                    <td>{row.found ? strings.yes : strings.no}</td>
                    <td>{row.evidence}</td>
                    <td>{row.mean_cost_ms === null ? NO_VALUE : formatDelay(1e6 * row.mean_cost_ms)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )
      }
    </QueryResult>
  )
}
