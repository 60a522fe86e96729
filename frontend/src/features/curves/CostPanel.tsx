import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import type { Cost } from '~/api/types'
import type { Granularity } from '~/lib/dimensions'
import { named } from '~/lib/options'
import { formatChange, formatMicroseconds, formatShare } from '~/lib/performance'
import type { Patch } from '~/lib/searchParams'
import { formatCount } from '~/lib/units'
import { Choice } from '~/ui/Choice'
import { NumberField } from '~/ui/NumberField'
import { ActionError, Notice } from '~/ui/State'
import { Term } from '~/ui/Term'
import { AddedLatency } from './AddedLatency'
import styles from './curves.module.css'
import type { CurveSearch } from './search'
import { strings } from './strings'

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

/** The cost of added latency: from zero, and in addition to the latency measured on a path. */
export function CostPanel({ cost, error, waiting, domain, added, search, onMove, onSearch }: Props) {
  return (
    <section className={styles.panel} aria-busy={waiting}>
      <h2>{strings.costTitle}</h2>
      <AddedLatency
        label={strings.addedRoundTripLabel}
        value={added}
        most={Math.round(domain * 1.1)}
        onMove={onMove}
        onRest={(us) => onSearch({ added: us || undefined })}
      />
      {cost && (
        <div className={styles.results}>
          <Result term={strings.addedAlone(formatMicroseconds(cost.added_us))} of={cost.alone} />
        </div>
      )}
      {cost?.alone.extrapolated && <Notice tone="warn">{strings.extrapolatedWarning}</Notice>}
      <Place search={search} onSearch={onSearch} />
      {search.mesh && cost && <Counting cost={cost} search={search} onSearch={onSearch} />}
      <ActionError error={error} />
      {cost?.measured && <Measured measured={cost.measured} cost={cost} />}
    </section>
  )
}

function Result({ term, of }: { term: string; of: Cost['alone'] | null }) {
  return (
    <p className={styles.result}>
      <span>{term}</span>
      <strong>{formatShare(of?.performance)}</strong>
      {of?.low != null && of.high != null && <span>{strings.interval(formatShare(of.low), formatShare(of.high))}</span>}
    </p>
  )
}

/** Fields that choose the measured round trips: a mesh and two of its VMs or zones. */
function Place({ search, onSearch }: Pick<Props, 'search' | 'onSearch'>) {
  const { data: meshes } = useQuery(meshesQuery)
  const { data: roster } = useQuery({ ...rosterQuery(search.mesh ?? ''), enabled: search.mesh !== undefined })
  const by = search.by ?? 'vm'
  const ends = (by === 'zone' ? roster?.zones : roster?.vms) ?? []
  const options = (label: string, without?: string) => [
    { value: '', label },
    ...named(ends.filter(({ id }) => id !== without)),
  ]
  return (
    <div className={styles.place}>
      <Choice
        label={strings.onTopOf}
        none={strings.nothing}
        data={named(meshes)}
        value={search.mesh ?? ''}
        onChange={(value) => onSearch({ mesh: value || undefined, source: undefined, target: undefined })}
      />
      {search.mesh && (
        <>
          <SegmentedControl
            aria-label={strings.granularity}
            data={[
              { value: 'vm', label: strings.vms },
              { value: 'zone', label: strings.zones },
            ]}
            value={by}
            onChange={(value) => onSearch({ by: value as Granularity, source: undefined, target: undefined })}
          />
          <Choice
            label={strings.from}
            data={options(strings.chooseEnd, by === 'vm' ? search.target : undefined)}
            value={search.source ?? ''}
            onChange={(value) => onSearch({ source: value || undefined })}
          />
          <Choice
            label={strings.to}
            data={options(strings.chooseEnd, by === 'vm' ? search.source : undefined)}
            value={search.target ?? ''}
            onChange={(value) => onSearch({ target: value || undefined })}
          />
        </>
      )}
    </div>
  )
}

/** Fields for the round trip of the test bed and the waiting pattern. */
function Counting({ cost, search, onSearch }: { cost: Cost } & Pick<Props, 'search' | 'onSearch'>) {
  return (
    <div className={styles.place}>
      <NumberField
        key={search.reference ?? 'default'}
        label={<Term of="test bed round trip">{strings.testBedRoundTrip}</Term>}
        description={strings.testBedHint}
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
      <Choice
        label={<Term of="waiting pattern">{strings.waiting}</Term>}
        description={strings.waitingHint}
        data={{ requests: strings.waitingRequests, rounds: strings.waitingRounds }}
        value={search.waiting ?? cost.waiting}
        onChange={(waiting) => onSearch({ waiting })}
      />
    </div>
  )
}

const MISSING = {
  measured: strings.noRoundTrip,
  not_planned: strings.notPlanned,
  earlier: strings.noData,
  no_service: strings.noData,
  estimated: strings.notPlanned,
  no_data: strings.noData,
  stale: strings.staleNoPrediction,
  lost: strings.lostNoPrediction,
}

function Measured({ measured, cost }: { measured: NonNullable<Cost['measured']>; cost: Cost }) {
  const { now, then, change, percentiles_ns: percentiles } = measured
  if (!now || !then || !percentiles) return <Notice tone="warn">{MISSING[measured.state]}</Notice>
  return (
    <>
      {measured.state === 'stale' && <Notice tone="warn">{strings.staleValues}</Notice>}
      <div className={styles.results} aria-live="polite">
        <Result term={strings.now} of={now} />
        <Result term={strings.after} of={then} />
        <p className={styles.result}>
          <span>{strings.change}</span>
          <strong>{formatChange(change)}</strong>
        </p>
      </div>
      <p className={styles.text}>
        {strings.measuredSummary(
          formatCount(measured.count),
          measured.source.name,
          measured.target.name,
          formatMicroseconds((percentiles[50] as number) / 1_000),
          formatMicroseconds((percentiles[99] as number) / 1_000),
          formatMicroseconds(measured.excess_us),
          cost.reference_us > 0
            ? strings.referenceSubtracted(formatMicroseconds(cost.reference_us), cost.reference_source)
            : strings.referenceZero,
        )}
        {(now.extrapolated || then.extrapolated) && strings.partlyExtrapolated}
      </p>
    </>
  )
}
