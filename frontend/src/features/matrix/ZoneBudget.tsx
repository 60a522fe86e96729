import { useQuery } from '@tanstack/react-query'
import { latencyBudgetsQuery } from '~/api/latencyBudgets'
import { useWaiting } from '~/api/waiting'
import { LatencyBudget } from '~/ui/LatencyBudget'
import { QueryResult } from '~/ui/QueryResult'
import { useTime } from '~/ui/time'
import styles from './matrix.module.css'
import { strings } from './strings'

/** Where the delays between two zones come from: medians over their paths. */
export function ZoneBudget({ meshId, source, target }: { meshId: string; source: string; target: string }) {
  const selections = [`zones:${source}:${target}`]
  const time = useTime()
  const options = latencyBudgetsQuery(meshId, { selections, time, span: '1h' })
  const query = useQuery(options)
  return (
    <section aria-label={strings.latencyBudget} className={styles.budget}>
      <h3>{time.span || time.from ? strings.latencyBudget : strings.budgetLastHour}</h3>
      <QueryResult query={query} waiting={useWaiting(options.queryKey)} what={strings.budgetLower}>
        {({ items, reference, published_source }) =>
          items.map((item) => (
            <LatencyBudget
              key={item.selection}
              brief
              budget={item}
              reference={reference}
              publishedSource={published_source}
            />
          ))
        }
      </QueryResult>
    </section>
  )
}
