import { NativeSelect, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import type { Cost } from '~/api/types'
import { formatChange, formatMicroseconds, formatShare } from '~/lib/performance'
import type { CurveSearch, Granularity, Patch, Waiting } from '~/lib/search'
import { formatCount } from '~/lib/units'
import { NumberField } from '~/ui/NumberField'
import { ActionError, Notice } from '~/ui/State'
import { AddedLatency } from './AddedLatency'
import styles from './curves.module.css'

interface Props {
  cost: Cost | undefined
  error: unknown
  waiting: boolean
  domain: number
  added: number
  search: CurveSearch
  onMove: (us: number) => void
  onSearch: (patch: Patch<CurveSearch>) => void
}

/** What would so many more microseconds cost me? From an undisturbed start, and on top of what is measured. */
export function CostPanel({ cost, error, waiting, domain, added, search, onMove, onSearch }: Props) {
  return (
    <section className={styles.panel} aria-busy={waiting}>
      <h2>What would more latency cost?</h2>
      <AddedLatency
        label="Added to the round trip"
        value={added}
        most={Math.round(domain * 1.1)}
        onMove={onMove}
        onRest={(us) => onSearch({ added: us || undefined })}
      />
      {cost && (
        <div className={styles.results}>
          <Result term={`With ${formatMicroseconds(cost.added_us)} more, by itself`} of={cost.alone} />
        </div>
      )}
      {cost?.alone.extrapolated && (
        <Notice tone="warn">
          Nobody measured that far: the curve keeps its last value, and performance may lie anywhere below.
        </Notice>
      )}
      <Place search={search} onSearch={onSearch} />
      {search.mesh && cost && <Counting cost={cost} search={search} onSearch={onSearch} />}
      <ActionError error={error} />
      {cost?.measured && <Measured measured={cost.measured} reference={cost.reference_us} />}
    </section>
  )
}

function Result({ term, of }: { term: string; of: Cost['alone'] | null }) {
  return (
    <p className={styles.result}>
      <span>{term}</span>
      <strong>{formatShare(of?.performance)}</strong>
      {of?.low != null && of.high != null && (
        <span>
          between {formatShare(of.low)} and {formatShare(of.high)}
        </span>
      )}
    </p>
  )
}

/** Whose round trips count: a mesh and two of its VMs, or two of its zones. */
function Place({ search, onSearch }: Pick<Props, 'search' | 'onSearch'>) {
  const { data: meshes } = useQuery(meshesQuery)
  const { data: roster } = useQuery({ ...rosterQuery(search.mesh ?? ''), enabled: search.mesh !== undefined })
  const by = search.by ?? 'vm'
  const ends = (by === 'zone' ? roster?.zones : roster?.vms) ?? []
  const options = (label: string, without?: string) => [
    { value: '', label },
    ...ends.filter(({ id }) => id !== without).map(({ id, name }) => ({ value: id, label: name })),
  ]
  return (
    <div className={styles.place}>
      <NativeSelect
        label="On top of what is measured in"
        data={[{ value: '', label: 'nothing' }, ...(meshes ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
        value={search.mesh ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onSearch({ mesh: value || undefined, source: undefined, target: undefined })
        }
      />
      {search.mesh && (
        <>
          <SegmentedControl
            aria-label="Between"
            data={[
              { value: 'vm', label: 'VMs' },
              { value: 'zone', label: 'Zones' },
            ]}
            value={by}
            onChange={(value) => onSearch({ by: value as Granularity, source: undefined, target: undefined })}
          />
          <NativeSelect
            label="From"
            data={options('choose', by === 'vm' ? search.target : undefined)}
            value={search.source ?? ''}
            onChange={({ currentTarget: { value } }) => onSearch({ source: value || undefined })}
          />
          <NativeSelect
            label="To"
            data={options('choose', by === 'vm' ? search.source : undefined)}
            value={search.target ?? ''}
            onChange={({ currentTarget: { value } }) => onSearch({ target: value || undefined })}
          />
        </>
      )}
    </div>
  )
}

/** From which round trip latency counts as added, and what waits for slow ones. */
function Counting({ cost, search, onSearch }: { cost: Cost } & Pick<Props, 'search' | 'onSearch'>) {
  return (
    <div className={styles.place}>
      <NumberField
        key={search.reference ?? 'default'}
        label="Round trip of the test bed, µs"
        description="So much of a measured round trip does not count"
        min={0}
        step="any"
        w={230}
        defaultValue={search.reference ?? cost.reference_us}
        onBlur={({ currentTarget: { value } }) => {
          const us = value === '' ? undefined : Number(value)
          if (us !== (search.reference ?? cost.reference_us)) onSearch({ reference: us })
        }}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
      />
      <NativeSelect
        label="Its work waits"
        description="How much the slowest of several round trips matters"
        data={[
          { value: 'requests', label: 'for single requests' },
          { value: 'rounds', label: 'for rounds, until the slowest has come' },
        ]}
        value={search.waiting ?? cost.waiting}
        onChange={({ currentTarget: { value } }) => onSearch({ waiting: value as Waiting })}
      />
    </div>
  )
}

const MISSING = {
  measured: 'The newest window holds no round trip, so nothing can be said.',
  not_planned: 'Nobody measures this path, so nothing can be said.',
  no_data: 'Nothing was measured here yet, so nothing can be said.',
  stale: 'Its agents are silent and their last windows are gone, so nothing can be said.',
  lost: 'Every packet of the newest window was lost, so nothing can be said.',
}

function Measured({ measured, reference }: { measured: NonNullable<Cost['measured']>; reference: number }) {
  const { now, then, change, percentiles_ns: percentiles } = measured
  if (!now || !then || !percentiles) return <Notice tone="warn">{MISSING[measured.state]}</Notice>
  return (
    <>
      {measured.state === 'stale' && <Notice tone="warn">Its agents are silent: these are old round trips.</Notice>}
      <div className={styles.results} aria-live="polite">
        <Result term="Now" of={now} />
        <Result term="Then" of={then} />
        <p className={styles.result}>
          <span>Change</span>
          <strong>{formatChange(change)}</strong>
        </p>
      </div>
      <p className={styles.text}>
        From {formatCount(measured.count)} round trips between {measured.source.name} and {measured.target.name}: median{' '}
        {formatMicroseconds((percentiles[50] as number) / 1_000)}, 99 % within{' '}
        {formatMicroseconds((percentiles[99] as number) / 1_000)}. Waiting for slow ones counts as{' '}
        {formatMicroseconds(measured.excess_us)} more.{' '}
        {reference > 0
          ? `The first ${formatMicroseconds(reference)} are those of the test bed and do not count.`
          : 'All of a round trip counts as added, so this is the careful side.'}
        {(now.extrapolated || then.extrapolated) && ' Part of it lies beyond what the curve knows.'}
      </p>
    </>
  )
}
