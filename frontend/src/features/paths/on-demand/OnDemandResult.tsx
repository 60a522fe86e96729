import { Anchor, Button, Progress, useComputedColorScheme } from '@mantine/core'
import { useMemo, useState } from 'react'
import { exchangesOf, isOver, useStopMeasuring } from '~/api/onDemand'
import type { OnDemand, OnDemandPath, PathProbes } from '~/api/types'
import { type Line, SeriesChart } from '~/charts/series/SeriesChart'
import { type Clock, formatMoment, formatTime } from '~/lib/time'
import { formatCount, formatDelay, formatRatio, formatSignedDelay, lossRatio } from '~/lib/units'
import { PictureMenu } from '~/ui/PictureMenu'
import { type Column, Records } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'
import { delayTicks } from '../delayTicks'
import styles from '../paths.module.css'
import { strings } from './strings'

const HEIGHT = 240

interface Props {
  measurement: OnDemand
  clock: Clock
  mayStop: boolean
}

/** One measurement on demand: progress, delays by second, totals, and the paths of its source ports. */
export function OnDemandResult({ measurement, clock, mayStop }: Props) {
  const stop = useStopMeasuring(measurement.id)
  const { status, seconds, starts_at, ends_at, windows } = measurement
  const length = Math.round((Date.parse(ends_at) - Date.parse(starts_at)) / 1_000)
  const at = new Date(starts_at)
  return (
    <section className={styles.newest} aria-label={strings.result}>
      <div className={styles.newestHead}>
        <h2>{strings.settingsOf(measurement, length)}</h2>
        <span className={styles.note}>{formatMoment(at, clock)}</span>
        <span role="status">{strings.statuses[status]}</span>
        {!isOver(measurement) && mayStop && (
          <Button variant="default" size="compact-sm" loading={stop.isPending} onClick={() => stop.mutate(null)}>
            {strings.stop}
          </Button>
        )}
        {seconds > 0 && (
          <Anchor href={exchangesOf(measurement.id)} download size="sm">
            {strings.download}
          </Anchor>
        )}
      </div>
      {!isOver(measurement) && (
        <div>
          <Progress value={(100 * seconds) / length} aria-label={strings.progress} size="sm" />
          <span className={styles.note}>{strings.progressOf(seconds, length)}</span>
        </div>
      )}
      <ActionError error={stop.error} />
      {status === 'no_data' && <Notice tone="warn">{strings.noData}</Notice>}
      {windows.length > 0 && (
        <>
          <Delays measurement={measurement} clock={clock} />
          <Totals measurement={measurement} />
          <Probes measurement={measurement} />
          {measurement.source_ports > 1 && (
            <>
              <Paths direction={strings.outbound} paths={measurement.outbound_paths} />
              <Paths direction={strings.inbound} paths={measurement.inbound_paths} />
            </>
          )}
          <Seconds measurement={measurement} clock={clock} />
        </>
      )}
    </section>
  )
}

function Delays({ measurement, clock }: { measurement: OnDemand; clock: Clock }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const [cursor, setCursor] = useState<number | null>(null)
  const { windows, starts_at, ends_at } = measurement
  const times = useMemo(() => windows.map(({ started_at }) => Date.parse(started_at) / 1_000), [windows])
  const lines = useMemo((): Line[] => {
    const error = windows.map(({ clock_error_ns }) => clock_error_ns)
    const values = (direction: 'outbound' | 'inbound', of: 'p50_ns' | 'p99_ns') =>
      windows.map((window) => window[direction][of])
    const tail = { isDashed: true }
    return [
      { label: strings.outboundMedian, colour: 'var(--outbound)', values: values('outbound', 'p50_ns'), error },
      { label: strings.inboundMedian, colour: 'var(--inbound)', values: values('inbound', 'p50_ns'), error },
      { label: strings.outboundTail, colour: 'var(--outbound)', values: values('outbound', 'p99_ns'), ...tail },
      { label: strings.inboundTail, colour: 'var(--inbound)', values: values('inbound', 'p99_ns'), ...tail },
    ]
  }, [windows])
  return (
    <figure className={styles.chart}>
      <figcaption>
        <h3>{strings.oneWay}</h3>
        <span className={styles.note}>{strings.bandIsClockError}</span>
        <span className={styles.values}>
          {lines.map((line) => (
            <span key={line.label} className={styles.value}>
              <span className={styles.key} style={{ background: line.colour }} />
              {line.label}
              <strong>{formatDelay(line.values[cursor ?? windows.length - 1])}</strong>
            </span>
          ))}
        </span>
        <PictureMenu title={strings.oneWay} note={strings.bandIsClockError} />
      </figcaption>
      <div style={{ height: HEIGHT }}>
        <SeriesChart
          label={strings.chartSummary(windows.length)}
          times={times}
          lines={lines}
          range={[Date.parse(starts_at) / 1_000, Date.parse(ends_at) / 1_000]}
          shape="line"
          formatTicks={delayTicks}
          height={HEIGHT}
          group="on-demand"
          clock={clock}
          theme={theme}
          onCursor={setCursor}
        />
      </div>
    </figure>
  )
}

type Summary = OnDemand['outbound']

const lossOf = ({ lost, unknown }: Summary, sent: number) =>
  `${formatCount(lost)} (${formatRatio(lossRatio({ sent: sent - unknown, lost }))})`

function Totals({ measurement }: { measurement: OnDemand }) {
  const sent = measurement.windows.reduce((sum, window) => sum + window.sent, 0)
  const rows: [string, Summary][] = [
    [strings.outbound, measurement.outbound],
    [strings.inbound, measurement.inbound],
    [strings.roundTrip, measurement.round_trip],
  ]
  return (
    <Records
      label={strings.totals}
      rows={rows}
      id={([name]) => name}
      columns={[
        { title: strings.direction, cell: ([name]) => name, as: 'head' },
        { title: strings.measured, cell: ([, of]) => formatCount(of.measured), as: 'number' },
        { title: strings.lost, cell: ([, of]) => lossOf(of, sent), as: 'number' },
        { title: strings.unknown, cell: ([, of]) => formatCount(of.unknown), as: 'number' },
        { title: strings.minimum, cell: ([, of]) => formatDelay(of.min_ns), as: 'number' },
        { title: 'p50', cell: ([, of]) => formatDelay(of.p50_ns), as: 'number' },
        { title: 'p99', cell: ([, of]) => formatDelay(of.p99_ns), as: 'number' },
        { title: strings.maximum, cell: ([, of]) => formatDelay(of.max_ns), as: 'number' },
      ]}
    />
  )
}

/** ECN fields at arrival, and the order of pairs, by direction; nothing unless they were asked for. */
function Probes({ measurement: { ecn, reordering, outbound_probes, inbound_probes } }: { measurement: OnDemand }) {
  if (!outbound_probes || !inbound_probes) return null
  const rows: [string, PathProbes][] = [
    [strings.outbound, outbound_probes],
    [strings.inbound, inbound_probes],
  ]
  const share = (count: number, of: number) =>
    of > 0 ? `${formatCount(count)} (${formatRatio(count / of)})` : strings.notObserved
  const ecnColumn = (title: string, count: (of: PathProbes) => number): Column<[string, PathProbes]> => ({
    title,
    cell: ([, of]) => share(count(of), of.ecn_known),
    as: 'number',
  })
  return (
    <div>
      <h3>{strings.probes}</h3>
      <p className={styles.source}>
        {[ecn && strings.ecnMeaning, reordering && strings.orderMeaning].filter(Boolean).join(' ')}
      </p>
      <Records
        label={strings.probes}
        rows={rows}
        id={([name]) => name}
        columns={[
          { title: strings.direction, cell: ([name]) => name, as: 'head' },
          ...(ecn
            ? [
                ecnColumn(strings.marked, ({ ce }) => ce),
                ecnColumn(strings.cleared, ({ cleared }) => cleared),
                ecnColumn(strings.altered, ({ altered }) => altered),
                {
                  title: strings.ecnKnown,
                  cell: ([, of]: [string, PathProbes]) => formatCount(of.ecn_known),
                  as: 'number' as const,
                },
              ]
            : []),
          ...(reordering
            ? [
                {
                  title: strings.reversed,
                  cell: ([, of]: [string, PathProbes]) => share(of.reversed, of.pairs),
                  as: 'number' as const,
                },
                {
                  title: strings.pairs,
                  cell: ([, of]: [string, PathProbes]) => formatCount(of.pairs),
                  as: 'number' as const,
                },
              ]
            : []),
        ]}
      />
    </div>
  )
}

function Paths({ direction, paths }: { direction: string; paths: OnDemandPath[] }) {
  return (
    <div>
      <h3>{strings.pathsOf(direction.toLowerCase())}</h3>
      <p className={styles.source}>{paths.length ? strings.pathsFound(paths.length) : strings.pathsPending}</p>
      {paths.length > 0 && (
        <Records
          label={strings.pathsOf(direction.toLowerCase())}
          rows={paths.map((path, n) => ({ ...path, n: n + 1 }))}
          id={({ n }) => n}
          columns={[
            { title: strings.path, cell: ({ n }) => n, as: 'head' },
            { title: strings.base, cell: ({ base_ns }) => formatDelay(base_ns), as: 'number' },
            { title: strings.slower, cell: ({ slower_by_ns }) => formatSignedDelay(slower_by_ns), as: 'number' },
            {
              title: strings.lost,
              cell: ({ sent, lost, lossy }) =>
                `${formatCount(lost)} (${formatRatio(lossRatio({ sent, lost }))})${lossy ? `, ${strings.lossy}` : ''}`,
              as: 'number',
            },
            { title: strings.portsOfPath, cell: ({ ports }) => ports.join(', '), as: 'wrap' },
          ]}
        />
      )}
    </div>
  )
}

function Seconds({ measurement: { windows }, clock }: { measurement: OnDemand; clock: Clock }) {
  return (
    <details>
      <summary>{strings.eachSecond}</summary>
      <Records
        label={strings.eachSecond}
        rows={windows}
        id={({ started_at }) => started_at}
        low
        columns={[
          { title: strings.second, cell: ({ started_at }) => formatTime(new Date(started_at), clock), as: 'head' },
          { title: strings.sent, cell: ({ sent }) => formatCount(sent), as: 'number' },
          { title: strings.outboundMedian, cell: ({ outbound }) => formatDelay(outbound.p50_ns), as: 'number' },
          { title: strings.outboundTail, cell: ({ outbound }) => formatDelay(outbound.p99_ns), as: 'number' },
          { title: strings.inboundMedian, cell: ({ inbound }) => formatDelay(inbound.p50_ns), as: 'number' },
          { title: strings.inboundTail, cell: ({ inbound }) => formatDelay(inbound.p99_ns), as: 'number' },
          { title: strings.lost, cell: ({ round_trip }) => formatCount(round_trip.lost), as: 'number' },
        ]}
      />
    </details>
  )
}
