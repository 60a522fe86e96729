import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { latencyBudgetsQuery } from '~/api/latencyBudgets'
import { PATH_SPAN } from '~/api/measurements'
import { useWaiting } from '~/api/waiting'
import type { TimeSearch } from '~/lib/spans'
import { LatencyBudget, Reference } from '~/ui/LatencyBudget'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import styles from './paths.module.css'
import { DISTANCE_KM_MAX, type PathSearch } from './search'
import { strings } from './strings'

interface Props {
  meshId: string
  source: string
  target: string
  time: TimeSearch
  search: PathSearch
  onSearch: (patch: PathSearch) => void
}

/** Where the delays of both directions, or their sum, come from. */
export function BudgetTab({ meshId, source, target, time, search: { rounds, km }, onSearch }: Props) {
  const paths = [`path:${source}:${target}`, `path:${target}:${source}`]
  const options = latencyBudgetsQuery(meshId, {
    selections: rounds ? paths.slice(0, 1) : paths,
    time,
    span: PATH_SPAN,
    roundTrip: rounds,
    distanceKm: km,
  })
  const query = useQuery(options)
  return (
    <div className={styles.view}>
      <div className={`${styles.budget} ${styles.wide}`}>
        <SegmentedControl
          aria-label={strings.ways}
          data={[
            { value: 'one', label: strings.eachDirection },
            { value: 'both', label: strings.roundTrip },
          ]}
          value={rounds ? 'both' : 'one'}
          onChange={(value) => onSearch({ rounds: value === 'both' ? true : undefined })}
        />
        <Distance km={km} onChange={(changed) => onSearch({ km: changed })} />
      </div>
      <QueryResult query={query} waiting={useWaiting(options.queryKey)} what={strings.budgetLower}>
        {({ items, reference, reference_source, published_source }) => (
          <div className={styles.tab}>
            {items.map((item) => (
              <Panel key={item.selection} title={rounds ? strings.roundTripOf(item.title) : item.title}>
                <LatencyBudget budget={item} reference={reference} publishedSource={published_source} />
              </Panel>
            ))}
            <Panel title={strings.referenceOf(reference_source)}>
              <p className={pageStyles.lead}>{strings.referenceLead}</p>
              <Reference reference={reference} source={reference_source} />
            </Panel>
          </div>
        )}
      </QueryResult>
    </div>
  )
}

/** The distance between the ends; it counts once the field is left or Enter is pressed. */
function Distance({ km, onChange }: { km: number | undefined; onChange: (km: number | undefined) => void }) {
  const [text, setText] = useState(km === undefined ? '' : String(km))
  const value = text.trim() === '' ? undefined : Number(text)
  const isValid = value === undefined || (value >= 0 && value <= DISTANCE_KM_MAX)
  const commit = () => isValid && value !== km && onChange(value)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        commit()
      }}
    >
      <NumberField
        label={strings.distance}
        min={0}
        max={DISTANCE_KM_MAX}
        step="any"
        value={text}
        error={isValid ? undefined : strings.distanceInvalid}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={commit}
      />
    </form>
  )
}
