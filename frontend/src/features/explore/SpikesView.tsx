import { Button, useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type Asked, spikeQuery, spikesQuery } from '~/api/answers'
import type { SpikeEvidence } from '~/api/types'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import { tickLabels } from '~/lib/metrics'
import { type Clock, formatMoment, zoneName } from '~/lib/time'
import { formatDelay, formatExact, formatSignedDelay } from '~/lib/units'
import { Records } from '~/ui/Records'
import { Empty } from '~/ui/State'
import { Answered } from './Answered'
import styles from './explore.module.css'

interface Props {
  meshId: string
  asked: Asked
  clock: Clock
  open: string | undefined
  onOpen: (spike: string) => void
}

/** Sudden rises of delay, newest first, and the exchanges around one of them. */
export function SpikesView({ meshId, asked, clock, open, onOpen }: Props) {
  const query = useQuery(spikesQuery(meshId, asked))
  const moment = (at: Date) => `${formatMoment(at, clock)} ${zoneName(clock, at)}`
  return (
    <>
      {open && <Evidence meshId={meshId} spikeId={open} clock={clock} onClose={() => onOpen('')} />}
      <Answered query={query} what="the spikes">
        {({ items, next_cursor }) =>
          items.length === 0 ? (
            <Empty title="No spike in this time">
              An agent keeps the exchanges around a delay that rises far above the median of its window.
            </Empty>
          ) : (
            <>
              <Records
                label="Spikes"
                rows={items}
                id={(spike) => spike.id}
                columns={[
                  { title: 'Path', cell: (spike) => `${spike.source.name} → ${spike.target.name}`, as: 'head' },
                  { title: 'Window', cell: ({ started_at }) => moment(new Date(started_at)) },
                  { title: 'Rise', cell: (spike) => formatSignedDelay(spike.rise_ns), as: 'number' },
                  { title: 'Largest', cell: (spike) => formatDelay(spike.max_ns), as: 'number' },
                  { title: 'Median', cell: (spike) => formatDelay(spike.median_ns), as: 'number' },
                  {
                    title: 'Evidence',
                    cell: (spike) => (
                      <Button
                        variant={spike.id === open ? 'filled' : 'default'}
                        size="compact-xs"
                        aria-label={`Exchanges of ${spike.source.name} to ${spike.target.name}, ${formatDelay(spike.max_ns)}`}
                        onClick={() => onOpen(spike.id)}
                      >
                        Exchanges
                      </Button>
                    ),
                  },
                ]}
              />
              {next_cursor && <p className={styles.note}>The newest {items.length}. Download to have them all.</p>}
            </>
          )
        }
      </Answered>
    </>
  )
}

function Evidence(props: { meshId: string; spikeId: string; clock: Clock; onClose: () => void }) {
  const query = useQuery(spikeQuery(props.meshId, props.spikeId))
  return (
    <Answered query={query} what="the exchanges">
      {(spike) => <Exchanges spike={spike} clock={props.clock} onClose={props.onClose} />}
    </Answered>
  )
}

function Exchanges({ spike, clock, onClose }: { spike: SpikeEvidence; clock: Clock; onClose: () => void }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const [cursor, setCursor] = useState<number | null>(null)
  const times = useMemo(() => {
    const start = Date.parse(spike.started_at) / 1_000
    return spike.at_ns.map((at) => start + at / 1e9)
  }, [spike])
  const lines = useMemo(
    (): Line[] => [
      { label: 'Outbound', colour: 'var(--outbound)', values: spike.outbound_ns },
      { label: 'Inbound', colour: 'var(--inbound)', values: spike.inbound_ns },
    ],
    [spike],
  )
  const first = times[0] ?? 0
  const last = times.at(-1) ?? first
  const room = Math.max((last - first) * 0.03, 0.05)
  const path = `${spike.source.name} → ${spike.target.name}`
  return (
    <section className={styles.evidence} aria-label="Exchanges around the spike">
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
        <Button variant="subtle" size="compact-xs" onClick={onClose}>
          Close
        </Button>
      </header>
      <p className={styles.moment}>
        {times.length} exchanges in {(last - first).toFixed(3)} s, the first {((spike.at_ns[0] ?? 0) / 1e9).toFixed(3)}{' '}
        s into the window of {spike.window_s} s.
      </p>
      <SeriesChart
        label={`${times.length} exchanges of ${path}, up to ${formatDelay(spike.max_ns)}`}
        times={times}
        range={[first - room, last + room]}
        lines={lines}
        shape="line"
        formatTicks={(values) => {
          const { unit, labels } = tickLabels('asymmetry', values)
          return labels.map((label) => `${label} ${unit}`)
        }}
        height={240}
        group="evidence"
        clock={clock}
        theme={theme}
        onCursor={setCursor}
      />
    </section>
  )
}
