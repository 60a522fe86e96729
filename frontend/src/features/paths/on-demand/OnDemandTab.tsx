import { Button, Checkbox, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useEdits } from '~/api/access'
import {
  isOver,
  onDemandListQuery,
  onDemandQuery,
  sourcePortsOf,
  sourcePortsQuery,
  useMeasureNow,
} from '~/api/onDemand'
import type { OnDemand, OnDemandInput } from '~/api/types'
import { type Clock, formatMoment } from '~/lib/time'
import { pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { ActionError } from '~/ui/State'
import styles from '../paths.module.css'
import { OnDemandResult } from './OnDemandResult'
import { strings } from './strings'

interface Props {
  meshId: string
  source: string
  target: string
  clock: Clock
  /** The measurement that is shown. */
  open: string | undefined
  onOpen: (id: string) => void
}

const RATES = [128, 64, 32, 16, 8, 4, 2, 1] as const
const DURATIONS_S = [60, 30, 10] as const
const PORTS = [1, 2, 4, 8, 16, 32, 64] as const

/** Measurements of a path on demand: the form, the one that is shown, and earlier ones. */
export function OnDemandTab({ meshId, source, target, clock, open, onOpen }: Props) {
  const edits = useEdits()
  const list = useQuery(onDemandListQuery(meshId, source, target))
  // The result and its row are read at different times: the row shows the state that the result shows.
  const shown = useQuery({ ...onDemandQuery(open ?? ''), enabled: Boolean(open) })
  return (
    <div className={styles.tab}>
      <p className={styles.source}>{strings.lead}</p>
      {edits ? (
        <Form onStarted={onOpen} ends={{ mesh_id: meshId, source_vm_id: source, target_vm_id: target }} />
      ) : (
        <p className={pageStyles.quiet}>{strings.viewersCannot}</p>
      )}
      <SourcePorts
        ends={[meshId, source, target]}
        clock={clock}
        sweeps={list.data?.items.filter(isSwept).length ?? 0}
      />
      {open && <Shown id={open} clock={clock} mayStop={edits} />}
      <section className={styles.newest}>
        <h2>{strings.earlier}</h2>
        <QueryResult query={list} what={strings.measurements}>
          {({ items }) =>
            items.length === 0 ? (
              <p className={pageStyles.quiet}>{strings.none}</p>
            ) : (
              <Records
                label={strings.earlier}
                rows={items}
                id={({ id }) => id}
                isCurrent={({ id }) => id === open}
                columns={[
                  {
                    title: strings.startedAt,
                    cell: ({ starts_at }) => formatMoment(new Date(starts_at), clock),
                    as: 'head',
                  },
                  {
                    title: strings.settings,
                    cell: (one) => strings.settingsOf(one, lengthOf(one)),
                  },
                  {
                    title: strings.status,
                    cell: ({ id, status }) => strings.statuses[(id === open && shown.data?.status) || status],
                  },
                  { title: strings.by, cell: ({ requested_by }) => requested_by, as: 'quiet' },
                  {
                    title: strings.result,
                    cell: ({ id, starts_at }) => {
                      const verb = id === open ? strings.hide : strings.show
                      return (
                        <Button
                          variant={id === open ? 'filled' : 'default'}
                          size="compact-xs"
                          aria-label={strings.verbOf(verb, formatMoment(new Date(starts_at), clock))}
                          onClick={() => onOpen(id === open ? '' : id)}
                        >
                          {verb}
                        </Button>
                      )
                    },
                  },
                ]}
              />
            )
          }
        </QueryResult>
      </section>
    </div>
  )
}

const lengthOf = ({ starts_at, ends_at }: { starts_at: string; ends_at: string }) =>
  Math.round((Date.parse(ends_at) - Date.parse(starts_at)) / 1_000)

/** Return true for a measurement over several source ports that has ended. */
const isSwept = (one: Pick<OnDemand, 'source_ports' | 'status'>) =>
  one.source_ports > 1 && one.status !== 'no_data' && isOver(one)

interface SourcePortsProps {
  ends: [meshId: string, source: string, target: string]
  clock: Clock
  sweeps: number
}

/** Which source ports are faster, since when, and where a client library reads it; nothing before the first sweep. */
function SourcePorts({ ends, clock, sweeps }: SourcePortsProps) {
  const { data } = useQuery(sourcePortsQuery(...ends, sweeps))
  if (!data) return null
  const [mesh_id, source_vm_id, target_vm_id] = ends
  const names: Record<string, string> = { mesh_id, source_vm_id, target_vm_id }
  return (
    <section className={styles.newest} aria-label={strings.sourcePorts}>
      <h2>{strings.sourcePorts}</h2>
      <p>{data.since ? `${data.words} ${strings.soSince(formatMoment(new Date(data.since), clock))}` : data.words}</p>
      {data.faster.length > 0 && <p className={styles.source}>{strings.faster(data.faster.join(', '))}</p>}
      <p className={styles.source}>
        {strings.readBy} <code>{sourcePortsOf.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '')}</code>
      </p>
    </section>
  )
}

type Ends = Pick<OnDemandInput, 'mesh_id' | 'source_vm_id' | 'target_vm_id'>

function Form({ ends, onStarted }: { ends: Ends; onStarted: (id: string) => void }) {
  const start = useMeasureNow()
  const [rate, setRate] = useState<(typeof RATES)[number]>(128)
  const [duration, setDuration] = useState<number>(60)
  const [ports, setPorts] = useState<(typeof PORTS)[number]>(1)
  const [ecn, setEcn] = useState(false)
  const [reordering, setReordering] = useState(false)
  const tooMany = (reordering ? 2 * ports : ports) > rate

  function submit(event: FormEvent) {
    event.preventDefault()
    if (tooMany) return
    start.mutate(
      { ...ends, rate_hz: rate, duration_s: duration, source_ports: ports, ecn, reordering },
      { onSuccess: ({ id }) => onStarted(id) },
    )
  }

  return (
    <form onSubmit={submit}>
      <div className={styles.budget}>
        <NativeSelect
          label={strings.exchangesPerSecond}
          data={RATES.map(String)}
          value={String(rate)}
          onChange={({ target }) => setRate(Number(target.value) as typeof rate)}
        />
        <NativeSelect
          label={strings.duration}
          data={DURATIONS_S.map((s) => ({ value: String(s), label: strings.seconds(s) }))}
          value={String(duration)}
          onChange={({ target }) => setDuration(Number(target.value))}
        />
        <NativeSelect
          label={strings.ports}
          data={PORTS.map(String)}
          value={String(ports)}
          error={tooMany && (reordering ? strings.pairsTooMany : strings.portsTooMany)}
          onChange={({ target }) => setPorts(Number(target.value) as typeof ports)}
        />
        <Checkbox label={strings.ecn} checked={ecn} onChange={({ target }) => setEcn(target.checked)} />
        <Checkbox
          label={strings.reordering}
          checked={reordering}
          onChange={({ target }) => setReordering(target.checked)}
        />
        <Button type="submit" loading={start.isPending}>
          {strings.runNow}
        </Button>
      </div>
      <p className={styles.source}>{`${strings.portsHint} ${strings.probesHint}`}</p>
      <ActionError error={start.error} />
    </form>
  )
}

function Shown({ id, clock, mayStop }: { id: string; clock: Clock; mayStop: boolean }) {
  const query = useQuery(onDemandQuery(id))
  return (
    <QueryResult query={query} what={strings.measurement}>
      {(measurement) => <OnDemandResult measurement={measurement} clock={clock} mayStop={mayStop} />}
    </QueryResult>
  )
}
