import { useQuery } from '@tanstack/react-query'
import { optionsQuery } from '~/api/queries'
import { formatChange, formatShare } from '~/lib/performance'
import { NO_VALUE } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { errorText } from '~/ui/State'

const money = (value: number | null) => (value === null ? NO_VALUE : value === 0 ? '±0' : value.toFixed(4))

/** What could be done beyond moving tasks: roles swapped, VMs made anew elsewhere, some more rented. */
export function Options({ applicationId }: { applicationId: string }) {
  const { data, error } = useQuery(optionsQuery(applicationId))
  if (error) return <p className={pageStyles.quiet}>Options: {errorText(error)}</p>
  if (!data || data.options.length === 0) return null
  return (
    <Panel title="What else could be done">
      <Records
        label="Options"
        rows={data.options.slice(0, 12)}
        id={(one) => one.words}
        columns={[
          { title: 'Option', cell: (one) => one.words, as: 'wrap' },
          { title: 'Then', cell: ({ gain }) => formatShare(gain.after.mean), as: 'number' },
          { title: 'Change', cell: ({ gain }) => formatChange(gain.gain.mean), as: 'number' },
          {
            title: 'Interval',
            cell: ({ gain }) => `${formatChange(gain.gain.low)} to ${formatChange(gain.gain.high)}`,
            as: 'number',
          },
          { title: 'An hour', cell: (one) => money(one.price_change_per_hour), as: 'number' },
          { title: 'Once', cell: (one) => money(one.price_once), as: 'number' },
        ]}
      />
      <p className={pageStyles.quiet}>
        A VM that does not exist yet is taken to be like those measured in its zone: how they differ makes the interval.
      </p>
    </Panel>
  )
}
