import { Button, useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { spikeQuery, spikesQuery } from '~/api/explore'
import type { SpikeEvidence } from '~/api/types'
import { ExchangesChart } from '~/charts/exchanges/ExchangesChart'
import type { Line } from '~/charts/series/SeriesChart'
import { statisticName } from '~/lib/metrics'
import type { TimeSearch } from '~/lib/spans'
import { type Clock, formatMoment } from '~/lib/time'
import { formatDelay, formatExact, formatSignedDelay } from '~/lib/units'
import { pageStyles } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { Empty } from '~/ui/State'
import { bothWays } from './bothWays'
import styles from './paths.module.css'
import { strings } from './strings'

interface Props {
  meshId: string
  source: string
  target: string
  time: TimeSearch
  clock: Clock
  /** The spike whose exchanges are shown. */
  open: string | undefined
  onOpen: (spike: string) => void
}

/** The raw exchanges of a path that its agents kept: those around sudden rises of its delay. */
export function ExchangesTab({ meshId, source, target, time, clock, open, onOpen }: Props) {
  const query = useQuery(spikesQuery(meshId, bothWays(source, target, time)))
  const moment = (at: Date) => formatMoment(at, clock)
  return (
    <div className={styles.tab}>
      <p className={styles.source}>{strings.exchangesLead}</p>
      {open && <Evidence meshId={meshId} spikeId={open} clock={clock} />}
      <QueryResult query={query} what={strings.spikesLower}>
        {({ items, next_cursor }) =>
          items.length === 0 ? (
            <Empty title={strings.noSpikes}>{strings.noSpikesLead}</Empty>
          ) : (
            <>
              <Records
                label={strings.spikes}
                rows={items}
                id={(spike) => spike.id}
                isCurrent={(spike) => spike.id === open}
                columns={[
                  { title: strings.window, cell: ({ started_at }) => moment(new Date(started_at)), as: 'head' },
                  { title: strings.rise, cell: (spike) => formatSignedDelay(spike.rise_ns), as: 'number' },
                  { title: statisticName('max'), cell: (spike) => formatDelay(spike.max_ns), as: 'number' },
                  { title: statisticName('p50'), cell: (spike) => formatDelay(spike.median_ns), as: 'number' },
                  {
                    title: strings.exchanges,
                    cell: (spike) => (
                      <Button
                        variant={spike.id === open ? 'filled' : 'default'}
                        size="compact-xs"
                        aria-label={strings.exchangesAt(moment(new Date(spike.started_at)))}
                        onClick={() => onOpen(spike.id === open ? '' : spike.id)}
                      >
                        {spike.id === open ? strings.hide : strings.show}
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
    </div>
  )
}

function Evidence({ meshId, spikeId, clock }: { meshId: string; spikeId: string; clock: Clock }) {
  const query = useQuery(spikeQuery(meshId, spikeId))
  return (
    <QueryResult query={query} what={strings.exchangesLower}>
      {(spike) => <Exchanges spike={spike} clock={clock} />}
    </QueryResult>
  )
}

function Exchanges({ spike, clock }: { spike: SpikeEvidence; clock: Clock }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const [cursor, setCursor] = useState<number | null>(null)
  const lines = useMemo(
    (): Line[] => [
      { label: strings.outbound, colour: 'var(--outbound)', values: spike.outbound_ns },
      { label: strings.inbound, colour: 'var(--inbound)', values: spike.inbound_ns },
    ],
    [spike],
  )
  const rows = spike.at_ns.map((atNs, n) => ({
    n,
    atNs,
    outbound: spike.outbound_ns[n] as number,
    inbound: spike.inbound_ns[n] as number,
  }))
  return (
    <figure className={styles.chart}>
      <figcaption>
        <h2>{strings.exchangesOf(spike.source.name, spike.target.name)}</h2>
        <span className={styles.values}>
          {lines.map((line) => (
            <span key={line.label} className={styles.value}>
              <span className={styles.key} style={{ background: line.colour }} />
              {line.label}
              <strong>{cursor === null ? '' : formatExact(line.values[cursor])}</strong>
            </span>
          ))}
        </span>
        <PictureMenu title={strings.exchangesOf(spike.source.name, spike.target.name)} />
      </figcaption>
      <ExchangesChart
        label={strings.exchangesSummary(spike.at_ns.length, formatDelay(spike.max_ns))}
        startedAt={spike.started_at}
        atNs={spike.at_ns}
        lines={lines}
        clock={clock}
        theme={theme}
        onCursor={setCursor}
      />
      <details>
        <summary>{strings.eachExchange}</summary>
        <Records
          label={strings.eachExchange}
          rows={rows}
          id={(row) => row.n}
          columns={[
            { title: strings.intoWindow, cell: (row) => `${(row.atNs / 1e9).toFixed(6)} s`, as: 'head' },
            { title: strings.outbound, cell: (row) => formatExact(row.outbound), as: 'number' },
            { title: strings.inbound, cell: (row) => formatExact(row.inbound), as: 'number' },
            { title: strings.roundTrip, cell: (row) => formatExact(row.outbound + row.inbound), as: 'number' },
          ]}
        />
      </details>
      <p className={pageStyles.quiet}>{strings.exchangesClock}</p>
    </figure>
  )
}
