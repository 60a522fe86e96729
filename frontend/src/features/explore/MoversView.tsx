import { useQuery } from '@tanstack/react-query'
import { moversQuery } from '~/api/explore'
import { facts, title } from '~/lib/metrics'
import { formatMoment } from '~/lib/time'
import { formatSignedDelay, formatSignedPercent, formatSignedRatio } from '~/lib/units'
import { TextLink } from '~/ui/links'
import { Records } from '~/ui/Records'
import { Empty } from '~/ui/State'
import styles from './explore.module.css'
import { QueryResult, type ViewProps } from './QueryResult'
import { strings } from './strings'

/** The paths, or pairs of zones, that changed most. */
export function MoversView({ meshId, parameters, clock }: ViewProps) {
  const options = moversQuery(meshId, parameters)
  const query = useQuery(options)
  return (
    <QueryResult query={query} queryKey={options.queryKey} what={strings.moversLower}>
      {(movers) => {
        const { format } = facts(movers.metric)
        const change = movers.unit === 'ratio' ? formatSignedRatio : formatSignedDelay
        const base = movers.base_window.from
        if (movers.items.length === 0) {
          return (
            <Empty title={movers.compared === 0 ? strings.nothingToCompare : strings.noChanges}>
              {movers.compared === 0 ? strings.noCommonPath : strings.allEqual(movers.compared)}
            </Empty>
          )
        }
        return (
          <div className={styles.view}>
            <p className={styles.moment}>
              {strings.moversSummary(
                title(movers.metric, movers.statistic),
                base ? formatMoment(new Date(base), clock) : strings.unknownPeriod,
                movers.compared,
              )}
            </p>
            <Records
              label={strings.moversTable}
              rows={movers.items}
              id={(item) => `${item.source.id} ${item.target.id}`}
              columns={[
                {
                  title: movers.by === 'zone' ? strings.zones : strings.path,
                  cell: (item) =>
                    movers.by === 'vm' ? (
                      <TextLink
                        size="sm"
                        to="/meshes/$meshId/paths/$source/$target"
                        params={{ meshId, source: item.source.id, target: item.target.id }}
                      >
                        {item.source.name} → {item.target.name}
                      </TextLink>
                    ) : (
                      `${item.source.name} → ${item.target.name}`
                    ),
                  as: 'head',
                },
                { title: strings.before, cell: (item) => format(item.base_value), as: 'number' },
                { title: strings.now, cell: (item) => format(item.value), as: 'number' },
                { title: strings.change, term: 'mover', cell: (item) => change(item.difference), as: 'number' },
                { title: strings.changePercent, cell: (item) => formatSignedPercent(item.percent), as: 'number' },
                { title: strings.clockError, term: 'clock error', cell: (item) => clocksOf(item.beyond_clock_error) },
              ]}
            />
          </div>
        )
      }}
    </QueryResult>
  )
}

function clocksOf(beyondError: boolean | null): string {
  if (beyondError === null) return strings.clockNotInvolved
  return beyondError ? strings.changeAboveError : strings.changeWithinError
}
