import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { optionsQuery } from '~/api/applications'
import { formatChange, formatShare } from '~/lib/performance'
import { NO_VALUE } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { errorText } from '~/ui/State'

const money = (value: number | null) => (value === null ? NO_VALUE : value === 0 ? '±0' : value.toFixed(4))

/** Options shown at first: they come best first. */
const FIRST = 8

/** What could be done beyond moving tasks: roles swapped, VMs made anew elsewhere, some more rented. */
export function Options({ applicationId }: { applicationId: string }) {
  const { data, error } = useQuery(optionsQuery(applicationId))
  const [all, setAll] = useState(false)
  if (error) return <p className={pageStyles.quiet}>Options: {errorText(error)}</p>
  if (!data || data.options.length === 0) return null
  return (
    <Panel title="What else could be done">
      <Records
        label="Options"
        rows={all ? data.options : data.options.slice(0, FIRST)}
        id={(one) => one.words}
        columns={[
          { title: 'Option', cell: (one) => one.words, as: 'wrap' },
          { title: 'Then', cell: ({ gain }) => formatShare(gain.after.mean), as: 'number' },
          { title: 'Change', cell: ({ gain }) => formatChange(gain.gain.mean), as: 'number' },
          {
            title: 'Interval',
            cell: ({ gain: { gain } }) =>
              gain.low <= -1 && gain.high >= 1
                ? 'not known'
                : `${formatChange(gain.low)} to ${formatChange(gain.high)}`,
            as: 'number',
          },
          { title: 'An hour', cell: (one) => money(one.price_change_per_hour), as: 'number' },
          { title: 'Once', cell: (one) => money(one.price_once), as: 'number' },
        ]}
      />
      {data.options.length > FIRST && (
        <div>
          <Button variant="default" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? `Show the best ${FIRST}` : `Show all ${data.options.length}`}
          </Button>
        </div>
      )}
      <p className={pageStyles.quiet}>
        A VM that does not exist yet is taken to be like those measured in its zone: how they differ makes the interval.
      </p>
    </Panel>
  )
}
