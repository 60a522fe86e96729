import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import { accuracyQuery, recommendationsQuery } from '~/api/queries'
import type { Accuracy, RecommendationSummary } from '~/api/types'
import { formatChange, formatShare } from '~/lib/performance'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { Page, Panel, pageStyles, Table } from '~/ui/Page'
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
    <Table label="Recommendations">
      <thead>
        <tr>
          <th scope="col">Made</th>
          <th scope="col">Mesh</th>
          <th scope="col" className={pageStyles.number}>
            Moves
          </th>
          <th scope="col" className={pageStyles.number}>
            Gain
          </th>
          <th scope="col" className={pageStyles.number}>
            Interval
          </th>
          <th scope="col">State</th>
          <th scope="col">Because</th>
        </tr>
      </thead>
      <tbody>
        {items.map((one) => (
          <tr key={one.id}>
            <th scope="row">
              <Anchor
                size="sm"
                renderRoot={(root) => (
                  <Link {...root} to="/recommendations/$recommendationId" params={{ recommendationId: one.id }} />
                )}
              >
                <Age at={one.created_at} clock={clock} now={serverNow} />
              </Anchor>
            </th>
            <td>{one.mesh.name}</td>
            <td className={pageStyles.number}>{one.moves === 0 ? 'stay' : formatCount(one.moves)}</td>
            <td className={pageStyles.number}>{one.total ? formatChange(one.total.gain.mean) : NO_VALUE}</td>
            <td className={pageStyles.number}>
              {one.total ? `${formatChange(one.total.gain.low)} to ${formatChange(one.total.gain.high)}` : NO_VALUE}
            </td>
            <td>{STATES[one.state]}</td>
            <td className={pageStyles.quiet}>
              {one.trigger === 'asked' ? `asked by ${one.requested_by}` : one.trigger}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
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
