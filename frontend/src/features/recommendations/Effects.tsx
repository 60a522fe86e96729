import type { Recommendation } from '~/api/types'
import { formatChange, formatShare, formatShares } from '~/lib/performance'
import { NO_VALUE } from '~/lib/units'
import { pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { strings } from './strings'

/** The effect of all moves on each application. */
export function Effects({ recommendation }: { recommendation: Recommendation }) {
  return (
    <Records
      label={strings.applications}
      rows={recommendation.result.applications}
      id={({ application }) => application.id}
      columns={[
        { title: strings.application, cell: ({ application }) => application.name, as: 'head' },
        { title: strings.before, cell: ({ expected }) => formatShare(expected.before.mean), as: 'number' },
        {
          title: strings.afterAllMoves,
          cell: ({ expected: { after } }) => (
            <>
              {formatShare(after.mean)}{' '}
              <span className={pageStyles.quiet}>{strings.interval(...formatShares(after.low, after.high))}</span>
            </>
          ),
          as: 'number',
        },
        { title: strings.gain, cell: ({ expected }) => formatChange(expected.gain.mean), as: 'number' },
        {
          title: strings.objective,
          term: 'objective',
          cell: ({ objective }) => (objective === null ? NO_VALUE : formatShare(objective)),
          as: 'number',
        },
      ]}
    />
  )
}
