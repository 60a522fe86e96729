import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { optionsQuery } from '~/api/applications'
import { useWaiting } from '~/api/waiting'
import { formatChange, formatChanges, formatShare } from '~/lib/performance'
import { formatMoments } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { errorText } from '~/ui/State'
import { Waiting } from '~/ui/Waiting'
import { money } from './money'
import { strings } from './strings'

/** Options shown at first, of those that gain anything: they come best first. */
const FIRST = 8

/** Return true for a gain that is more than nothing as the page writes it. */
const gainsAnything = (gain: number) => gain > 0 && formatChange(gain) !== formatChange(0)

/** Options beyond moving tasks: swap roles, recreate VMs elsewhere, rent more VMs. */
export function Options({ applicationId }: { applicationId: string }) {
  const query = optionsQuery(applicationId)
  const { data, error } = useQuery(query)
  const waiting = useWaiting(query.queryKey)
  const [all, setAll] = useState(false)
  const clock = useClock()
  if (error) return <p className={pageStyles.quiet}>{strings.optionsError(errorText(error))}</p>
  if (!data && waiting) {
    return (
      <Panel title={strings.otherOptions}>
        <Waiting what={strings.optionsLower} waiting={waiting} />
      </Panel>
    )
  }
  if (!data || data.options.length === 0) return null
  const { from, to } = data.window
  const best = data.options.filter(({ gain }) => gainsAnything(gain.gain.mean)).slice(0, FIRST)
  if (best.length === 0) {
    return (
      <Panel title={strings.otherOptions}>
        <p>{strings.noOptionGains(data.options.length)}</p>
        {data.untried.length > 0 && <p className={pageStyles.quiet}>{data.untried.join(' ')}</p>}
      </Panel>
    )
  }
  return (
    <Panel title={strings.otherOptions}>
      <Records
        label={strings.options}
        rows={all ? data.options : best}
        id={(option) => option.words}
        columns={[
          { title: strings.option, cell: (option) => option.words, as: 'wrap' },
          { title: strings.predictedPerformance, cell: ({ gain }) => formatShare(gain.after.mean), as: 'number' },
          { title: strings.change, cell: ({ gain }) => formatChange(gain.gain.mean), as: 'number' },
          {
            title: strings.confidenceInterval,
            cell: ({ gain: { gain } }) =>
              gain.low <= -1 && gain.high >= 1
                ? strings.unknown
                : strings.interval(...formatChanges(gain.low, gain.high)),
            as: 'number',
          },
          { title: strings.costPerHour, cell: (option) => money(option.price_change_per_hour), as: 'number' },
          { title: strings.oneOffCost, cell: (option) => money(option.price_once), as: 'number' },
        ]}
      />
      {data.options.length > best.length && (
        <div>
          <Button variant="default" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? strings.showBest(best.length) : strings.showAll(data.options.length)}
          </Button>
        </div>
      )}
      <p className={pageStyles.quiet}>
        {[
          from && to && strings.optionsBasis(formatMoments(new Date(from), new Date(to), clock)),
          strings.newVmAssumption,
          ...data.untried,
        ]
          .filter(Boolean)
          .join(' ')}
      </p>
    </Panel>
  )
}
