import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { nextVmsQuery } from '~/api/applications'
import type { NextVms as Answer } from '~/api/types'
import { formatShare, formatShares } from '~/lib/performance'
import type { Patch } from '~/lib/searchParams'
import { formatMoments } from '~/lib/time'
import { NO_VALUE } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { LiveNumber } from '~/ui/LiveNumber'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { money } from './money'
import type { NextSearch } from './search'
import { strings } from './strings'

interface Props {
  applicationId: string
  search: NextSearch
  onSearch: (patch: Patch<NextSearch>) => void
}

/** Idle VMs shown at first, of those that come best first. */
const FIRST = 8

/** Where more VMs for an application should be, how many to rent for a trial, and its idle VMs by rank, after a click. */
export function NextVms({ applicationId, search: { vms, price }, onSearch }: Props) {
  const query = useQuery(nextVmsQuery(applicationId, vms ?? 0, price))
  if (!vms) {
    return (
      <div>
        <Button variant="default" onClick={() => onSearch({ vms: 1 })}>
          {strings.findNextVm}
        </Button>
      </div>
    )
  }
  return (
    <Panel title={strings.nextVms}>
      <div className={pageStyles.form}>
        <LiveNumber
          label={strings.vmsNeeded}
          number={vms}
          min={1}
          max={20}
          w={190}
          onNumber={(value) => onSearch({ vms: value })}
        />
        <LiveNumber
          label={strings.vmPrice}
          description={strings.vmPriceHint}
          number={price ?? 0}
          min={0}
          max={1e6}
          step="any"
          w={240}
          onNumber={(value) => onSearch({ price: value || undefined })}
        />
      </div>
      <QueryResult query={query} what={strings.nextVmsLower}>
        {(answer) => <Places answer={answer} />}
      </QueryResult>
    </Panel>
  )
}

function Places({ answer }: { answer: Answer }) {
  const clock = useClock()
  const [all, setAll] = useState(false)
  const { from, to } = answer.window
  const range = (performance: Answer['places'][number]['performance']) =>
    performance.low <= 0 && performance.high >= 1
      ? strings.unknown
      : strings.interval(...formatShares(performance.low, performance.high))
  return (
    <div className={pageStyles.stack}>
      {answer.places.length > 0 && (
        <Records
          label={strings.places}
          rows={answer.places}
          id={({ words }) => words}
          columns={[
            { title: strings.advice, cell: ({ words }) => words, as: 'wrap' },
            { title: strings.withoutTrial, cell: ({ first }) => formatShare(first), as: 'number' },
            {
              title: strings.predictedPerformance,
              cell: ({ performance }) => formatShare(performance.mean),
              as: 'number',
            },
            { title: strings.confidenceInterval, cell: ({ performance }) => range(performance), as: 'number' },
            { title: strings.costPerHour, cell: (place) => money(place.price_per_hour, answer.vms), as: 'number' },
            { title: strings.trialCost, cell: ({ trial_price }) => money(trial_price), as: 'number' },
          ]}
        />
      )}
      {answer.idle.length > 0 && (
        <>
          <h3>{strings.idleVms}</h3>
          <Records
            label={strings.idleVms}
            rows={all ? answer.idle : answer.idle.slice(0, FIRST)}
            id={({ vm }) => vm.id}
            columns={[
              { title: strings.vm, cell: ({ vm }) => vm.name, as: 'head' },
              { title: strings.zone, cell: ({ zone }) => zone },
              {
                title: strings.predictedPerformance,
                cell: ({ performance }) => formatShare(performance?.mean),
                as: 'number',
              },
              {
                title: strings.confidenceInterval,
                cell: ({ performance }) => (performance ? range(performance) : NO_VALUE),
                as: 'number',
              },
              { title: strings.costPerHour, cell: ({ price_per_hour }) => money(price_per_hour), as: 'number' },
            ]}
          />
          {answer.idle.length > FIRST && (
            <div>
              <Button variant="default" aria-expanded={all} onClick={() => setAll(!all)}>
                {all ? strings.showBest(FIRST) : strings.showAll(answer.idle.length)}
              </Button>
            </div>
          )}
        </>
      )}
      <p className={pageStyles.quiet}>
        {[
          from && to && strings.nextBasis(answer.task.name, formatMoments(new Date(from), new Date(to), clock)),
          ...answer.untried,
        ]
          .filter(Boolean)
          .join(' ')}
      </p>
    </div>
  )
}
