import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import { accuracyQuery, recommendationsQuery } from '~/api/recommendations'
import type { Accuracy, RecommendationSummary } from '~/api/types'
import { formatChange, formatShare } from '~/lib/performance'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Failed, Loading } from '~/ui/State'
import { Ask } from './Ask'
import { STATES } from './states'

/** Which moves are worth making, asked for and found before, and how right they were. */
export function RecommendationsPage() {
  const found = useQuery(recommendationsQuery)
  const { data: accuracy } = useQuery(accuracyQuery)
  if (found.error && !found.data) {
    return <Failed what="The recommendations" error={found.error} retry={() => void found.refetch()} />
  }
  return (
    <Page
      title="Recommendations"
      lead="Which task to move where, what it gains, why, and whether it did. Sinemora never moves anything itself."
    >
      <Ask />
      {accuracy && accuracy.verified > 0 && <Ledger accuracy={accuracy} />}
      {!found.data ? (
        <Loading what="recommendations" />
      ) : found.data.length === 0 ? (
        <p className={pageStyles.lead}>
          None yet. Declare an <Link to="/applications">application</Link>, then ask above.
        </p>
      ) : (
        <List items={found.data} />
      )}
    </Page>
  )
}

function List({ items }: { items: RecommendationSummary[] }) {
  const clock = useClock()
  return (
    <Records
      label="Recommendations"
      rows={items}
      id={(one) => one.id}
      columns={[
        {
          title: 'Made',
          cell: (one) => (
            <Anchor
              size="sm"
              renderRoot={(root) => (
                <Link {...root} to="/recommendations/$recommendationId" params={{ recommendationId: one.id }} />
              )}
            >
              <Age at={one.created_at} clock={clock} now={serverNow} />
            </Anchor>
          ),
          as: 'head',
        },
        { title: 'Mesh', cell: (one) => one.mesh.name },
        { title: 'Moves', cell: (one) => (one.moves === 0 ? 'stay' : formatCount(one.moves)), as: 'number' },
        {
          title: 'Gain',
          cell: ({ total }) => (total ? formatChange(total.gain.mean) : NO_VALUE),
          as: 'number',
        },
        {
          title: 'Interval',
          cell: ({ total }) =>
            total ? `${formatChange(total.gain.low)} to ${formatChange(total.gain.high)}` : NO_VALUE,
          as: 'number',
        },
        { title: 'State', cell: (one) => STATES[one.state] },
        {
          title: 'Because',
          cell: (one) => (one.trigger === 'asked' ? `asked by ${one.requested_by}` : one.trigger),
          as: 'quiet',
        },
      ]}
    />
  )
}

function Ledger({ accuracy }: { accuracy: Accuracy }) {
  return (
    <Panel title="How right they were">
      <p className={pageStyles.lead}>
        Of {formatCount(accuracy.verified)} that were applied and measured afterwards, {formatCount(accuracy.held)} came
        out as stated ({formatShare(accuracy.held / accuracy.verified)}). They promised{' '}
        {formatChange(accuracy.mean_gain_predicted)} on average and brought {formatChange(accuracy.mean_gain_observed)}.
      </p>
    </Panel>
  )
}
