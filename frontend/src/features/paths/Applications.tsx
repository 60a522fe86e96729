import { useQuery } from '@tanstack/react-query'
import { pathApplicationsQuery } from '~/api/applications'
import { formatShare } from '~/lib/performance'
import { formatRatio, NO_VALUE } from '~/lib/units'
import { applicationColumn } from '~/ui/applicationColumn'
import { pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import styles from './paths.module.css'
import { strings } from './strings'

/** The applications with links over a path, and what the path costs each of them. */
export function Applications({ meshId, source, target }: { meshId: string; source: string; target: string }) {
  const query = useQuery(pathApplicationsQuery(meshId, source, target))
  return (
    <section className={styles.newest}>
      <h2>{strings.applications}</h2>
      <QueryResult query={query} what={strings.applicationsLower}>
        {({ items }) =>
          items.length === 0 ? (
            <p className={pageStyles.quiet}>{strings.noApplications}</p>
          ) : (
            <div className={pageStyles.stack}>
              <Records
                label={strings.applications}
                rows={items}
                id={({ id }) => id}
                columns={[
                  applicationColumn,
                  { title: strings.lostOnPath, cell: ({ cost }) => formatRatio(cost), as: 'number' },
                  { title: strings.performanceNow, cell: ({ performance }) => formatShare(performance), as: 'number' },
                  {
                    title: strings.objective,
                    cell: ({ objective, below_objective }) =>
                      objective === null
                        ? NO_VALUE
                        : `${formatShare(objective)}${below_objective ? strings.missed : ''}`,
                    as: 'number',
                  },
                  {
                    title: strings.links,
                    cell: ({ path_links, links }) => strings.ofLinks(path_links, links),
                    as: 'number',
                  },
                ]}
              />
              <p className={styles.source}>{strings.applicationsHint}</p>
            </div>
          )
        }
      </QueryResult>
    </section>
  )
}
