import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Asked, moversQuery } from '~/api/answers'
import { facts, title } from '~/lib/metrics'
import { type Clock, formatMoment, zoneName } from '~/lib/time'
import { formatSignedDelay, formatSignedPercent, formatSignedRatio } from '~/lib/units'
import { Records } from '~/ui/Records'
import { Empty } from '~/ui/State'
import { Answered } from './Answered'
import styles from './explore.module.css'
import { strings } from './strings'

/** The paths, or pairs of zones, that changed most. */
export function MoversView({ meshId, asked, clock }: { meshId: string; asked: Asked; clock: Clock }) {
  const question = moversQuery(meshId, asked)
  const query = useQuery(question)
  return (
    <Answered query={query} asked={question.queryKey} what={strings.moversLower}>
      {(answer) => {
        const { format } = facts(answer.metric)
        const change = answer.unit === 'ratio' ? formatSignedRatio : formatSignedDelay
        const base = answer.base_window.from
        if (answer.items.length === 0) {
          return (
            <Empty title={answer.compared === 0 ? strings.nothingToCompare : strings.noChanges}>
              {answer.compared === 0 ? strings.noCommonPath : strings.allEqual(answer.compared)}
            </Empty>
          )
        }
        return (
          <div className={styles.view}>
            <p className={styles.moment}>
              {strings.moversSummary(
                title(answer.metric, answer.statistic),
                base
                  ? `${formatMoment(new Date(base), clock)} ${zoneName(clock, new Date(base))}`
                  : strings.unknownPeriod,
                answer.compared,
              )}
            </p>
            <Records
              label={strings.moversTable}
              rows={answer.items}
              id={(item) => `${item.source.id} ${item.target.id}`}
              columns={[
                {
                  title: answer.by === 'zone' ? strings.zones : strings.path,
                  cell: (item) =>
                    answer.by === 'vm' ? (
                      <Anchor
                        size="sm"
                        renderRoot={(root) => (
                          <Link
                            {...root}
                            to="/meshes/$meshId/paths/$source/$target"
                            params={{ meshId, source: item.source.id, target: item.target.id }}
                          />
                        )}
                      >
                        {item.source.name} → {item.target.name}
                      </Anchor>
                    ) : (
                      `${item.source.name} → ${item.target.name}`
                    ),
                  as: 'head',
                },
                { title: strings.before, cell: (item) => format(item.base_value), as: 'number' },
                { title: strings.now, cell: (item) => format(item.value), as: 'number' },
                { title: strings.change, cell: (item) => change(item.difference), as: 'number' },
                { title: strings.changePercent, cell: (item) => formatSignedPercent(item.percent), as: 'number' },
                { title: strings.clockError, cell: (item) => clocksOf(item.beyond_clock_error) },
              ]}
            />
          </div>
        )
      }}
    </Answered>
  )
}

function clocksOf(beyondError: boolean | null): string {
  if (beyondError === null) return strings.clockNotInvolved
  return beyondError ? strings.changeAboveError : strings.changeWithinError
}
