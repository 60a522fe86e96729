import type { Recommendation } from '~/api/types'
import { formatChange, formatShare } from '~/lib/performance'
import { NO_VALUE } from '~/lib/units'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'

/** What all moves together do to each application. */
export function Effects({ found }: { found: Recommendation }) {
  return (
    <Records
      label="Applications"
      rows={found.answer.applications}
      id={({ application }) => application.id}
      columns={[
        { title: 'Application', cell: ({ application }) => application.name, as: 'head' },
        { title: 'Before', cell: ({ expected }) => formatShare(expected.before.mean), as: 'number' },
        {
          title: 'After all moves',
          cell: ({ expected: { after } }) => (
            <>
              {formatShare(after.mean)}{' '}
              <span className={pageStyles.quiet}>
                {formatShare(after.low)} to {formatShare(after.high)}
              </span>
            </>
          ),
          as: 'number',
        },
        { title: 'Gain', cell: ({ expected }) => formatChange(expected.gain.mean), as: 'number' },
        {
          title: 'Objective',
          cell: ({ objective }) => (objective === null ? NO_VALUE : formatShare(objective)),
          as: 'number',
        },
      ]}
    />
  )
}
