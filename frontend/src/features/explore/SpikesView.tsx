import { Button, useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type ExploreParameters, spikeQuery, spikesQuery } from '~/api/explore'
import type { SpikeEvidence, Spikes } from '~/api/types'
import { ExchangesChart } from '~/charts/exchanges/ExchangesChart'
import type { Line } from '~/charts/series/SeriesChart'
import { statisticName } from '~/lib/metrics'
import { type Clock, formatMoment } from '~/lib/time'
import { formatDelay, formatExact, formatSignedDelay } from '~/lib/units'
import { PictureMenu } from '~/ui/PictureMenu'
import { RecordList } from '~/ui/RecordList'
import { Empty } from '~/ui/State'
import styles from './explore.module.css'
import { QueryResult } from './QueryResult'
import { strings } from './strings'

interface Props {
  meshId: string
  parameters: ExploreParameters
  clock: Clock
  open: string | undefined
  onOpen: (spike: string) => void
}

const pathOf = ({ source, target }: Spikes['items'][number]) => `${source.name} → ${target.name}`

/** Sudden rises of delay, newest first, and the exchanges around one of them. */
export function SpikesView({ meshId, parameters, clock, open, onOpen }: Props) {
  const query = useQuery(spikesQuery(meshId, parameters))
  const moment = (at: Date) => formatMoment(at, clock)
  return (
    <>
      {open && <Evidence meshId={meshId} spikeId={open} clock={clock} onClose={() => onOpen('')} />}
      <QueryResult query={query} what={strings.spikesLower}>
        {({ items, next_cursor }) =>
          items.length === 0 ? (
            <Empty title={strings.noSpikes}>{strings.noSpikesLead}</Empty>
          ) : (
            <>
              <RecordList
                label={strings.spikes}
                rows={items}
                id={(spike) => spike.id}
                columns={[
                  { title: strings.path, as: 'head', by: { key: 'path', value: pathOf } },
                  {
                    title: strings.window,
                    cell: ({ started_at }) => moment(new Date(started_at)),
                    by: { key: 'window', value: ({ started_at }) => started_at },
                  },
                  {
                    title: strings.rise,
                    cell: (spike) => formatSignedDelay(spike.rise_ns),
                    as: 'number',
                    by: { key: 'rise', value: ({ rise_ns }) => rise_ns },
                  },
                  {
                    title: statisticName('max'),
                    cell: (spike) => formatDelay(spike.max_ns),
                    as: 'number',
                    by: { key: 'max', value: ({ max_ns }) => max_ns },
                  },
                  {
                    title: statisticName('p50'),
                    cell: (spike) => formatDelay(spike.median_ns),
                    as: 'number',
                    by: { key: 'median', value: ({ median_ns }) => median_ns },
                  },
                  {
                    title: strings.evidence,
                    term: 'evidence',
                    cell: (spike) => (
                      <Button
                        variant={spike.id === open ? 'filled' : 'default'}
                        size="compact-xs"
                        aria-label={strings.exchangesOf(
                          spike.source.name,
                          spike.target.name,
                          formatDelay(spike.max_ns),
                        )}
                        onClick={() => onOpen(spike.id)}
                      >
                        {strings.exchanges}
                      </Button>
                    ),
                  },
                ]}
              />
              {next_cursor && <p className={styles.note}>{strings.newestOnly(items.length)}</p>}
            </>
          )
        }
      </QueryResult>
    </>
  )
}

function Evidence(props: { meshId: string; spikeId: string; clock: Clock; onClose: () => void }) {
  const query = useQuery(spikeQuery(props.meshId, props.spikeId))
  return (
    <QueryResult query={query} what={strings.exchangesLower}>
      {(spike) => <Exchanges spike={spike} clock={props.clock} onClose={props.onClose} />}
    </QueryResult>
  )
}

function Exchanges({ spike, clock, onClose }: { spike: SpikeEvidence; clock: Clock; onClose: () => void }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const [cursor, setCursor] = useState<number | null>(null)
  const lines = useMemo(
    (): Line[] => [
      { label: strings.outbound, colour: 'var(--outbound)', values: spike.outbound_ns },
      { label: strings.inbound, colour: 'var(--inbound)', values: spike.inbound_ns },
    ],
    [spike],
  )
  const [first = 0] = spike.at_ns
  const last = spike.at_ns.at(-1) ?? first
  const path = `${spike.source.name} → ${spike.target.name}`
  return (
    <section className={styles.evidence} aria-label={strings.exchangesAround}>
      <header className={styles.evidenceHead}>
        <h2>
          {path}, {formatDelay(spike.max_ns)}
        </h2>
        <span className={styles.values}>
          {lines.map((line) => (
            <span key={line.label}>
              <span className={styles.key} style={{ background: line.colour }} />
              {line.label} <strong>{cursor === null ? '' : formatExact(line.values[cursor])}</strong>
            </span>
          ))}
        </span>
        <PictureMenu title={`${path}, ${formatDelay(spike.max_ns)}`} />
        <Button variant="subtle" size="compact-xs" onClick={onClose}>
          {strings.close}
        </Button>
      </header>
      <p className={styles.moment}>
        {strings.exchangesTiming(
          spike.at_ns.length,
          ((last - first) / 1e9).toFixed(3),
          (first / 1e9).toFixed(3),
          spike.window_s,
        )}
      </p>
      <ExchangesChart
        label={strings.exchangesSummary(spike.at_ns.length, path, formatDelay(spike.max_ns))}
        startedAt={spike.started_at}
        atNs={spike.at_ns}
        lines={lines}
        clock={clock}
        theme={theme}
        onCursor={setCursor}
      />
    </section>
  )
}
