import { useQuery } from '@tanstack/react-query'
import { serverNow } from '~/api/connection'
import { EXPLORE_SPAN } from '~/api/explore'
import { deviationsQuery } from '~/api/measurements'
import { aroundHour, isMoving, NOW } from '~/lib/spans'
import { formatShortMoment } from '~/lib/time'
import { formatWait } from '~/lib/traffic'
import { formatCount, formatDelay, formatSignedDelay, formatSignedPercent, NO_VALUE } from '~/lib/units'
import { TextLink } from '~/ui/links'
import { Records } from '~/ui/Records'
import { Empty } from '~/ui/State'
import { QueryResult, type ViewProps } from './QueryResult'
import { strings } from './strings'

const ROWS = 50

/** The paths, or pairs of zones, that differed most from usual in the range, each cause first, and when. */
export function MoversView({ meshId, parameters: { by, time }, clock }: ViewProps) {
  const { versus: _, ...range } = isMoving(time) ? { span: EXPLORE_SPAN, ...time } : time
  const query = useQuery(deviationsQuery(meshId, by, ROWS, { ...range, percent: false }))
  return (
    <QueryResult query={query} what={strings.moversLower}>
      {({ items, compared }) =>
        items.length === 0 ? (
          <Empty title={compared === 0 ? strings.nothingToCompare : strings.noChanges}>
            {compared === 0 ? strings.noUsual : strings.allUsual(formatCount(compared))}
          </Empty>
        ) : (
          [
            { title: strings.slowerThanUsual, rows: items.filter(({ deviation_ns }) => (deviation_ns ?? 0) > 0) },
            { title: strings.fasterThanUsual, rows: items.filter(({ deviation_ns }) => (deviation_ns ?? 0) < 0) },
          ]
            .filter(({ rows }) => rows.length > 0)
            .map(({ title, rows }) => (
              <section key={title}>
                <h2>{title}</h2>
                <Records
                  label={title}
                  rows={rows}
                  id={({ source, target }) => `${source.id} ${target.id}`}
                  columns={[
                    {
                      title: by === 'zone' ? strings.zones : strings.path,
                      cell: ({ source, target, onset_at, alike }) =>
                        by === 'vm' ? (
                          <>
                            <TextLink
                              to="/meshes/$meshId/paths/$source/$target"
                              params={{ meshId, source: source.id, target: target.id }}
                              search={{ ...NOW, ...aroundHour(onset_at, serverNow()) }}
                            >
                              {source.name} → {target.name}
                            </TextLink>{' '}
                            {alike > 0 && strings.andMore(formatCount(alike))}
                          </>
                        ) : (
                          `${source.name} → ${target.name}`
                        ),
                      as: 'head',
                    },
                    { title: strings.usual, cell: ({ baseline_ns }) => formatDelay(baseline_ns), as: 'number' },
                    { title: strings.atThatTime, cell: ({ value_ns }) => formatDelay(value_ns), as: 'number' },
                    {
                      title: strings.change,
                      term: 'deviation',
                      cell: ({ deviation_ns }) => formatSignedDelay(deviation_ns),
                      as: 'number',
                    },
                    {
                      title: strings.changePercent,
                      cell: ({ deviation_ns, baseline_ns }) =>
                        formatSignedPercent((100 * (deviation_ns ?? 0)) / (baseline_ns || Number.NaN)),
                      as: 'number',
                    },
                    { title: strings.since, cell: ({ onset_at }) => formatShortMoment(onset_at, clock, serverNow()) },
                    {
                      title: strings.lasted,
                      cell: ({ unusual_s: s }) => (s === null ? NO_VALUE : formatWait(s)),
                      as: 'number',
                    },
                  ]}
                />
              </section>
            ))
        )
      }
    </QueryResult>
  )
}
