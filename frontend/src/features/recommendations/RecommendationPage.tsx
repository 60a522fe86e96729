import { Slider } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { recommendationQuery } from '~/api/recommendations'
import type { Gain, Recommendation } from '~/api/types'
import { formatChange, formatShare } from '~/lib/performance'
import type { Patch, RecommendationSearch } from '~/lib/search'
import { formatCount } from '~/lib/units'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { Failed, Loading, Notice } from '~/ui/State'
import { Decisions } from './Decisions'
import { Effects } from './Effects'
import { Moves } from './Moves'
import { Network } from './Network'
import { Proof } from './Proof'
import styles from './recommendations.module.css'
import { Strips } from './Strips'
import { STATES } from './states'

interface Props {
  recommendationId: string
  search: RecommendationSearch
  onSearch: (patch: Patch<RecommendationSearch>) => void
}

/** One recommendation: the moves, what they gain, what proves it, and what came of it. */
export function RecommendationPage({ recommendationId, search, onSearch }: Props) {
  const read = useQuery(recommendationQuery(recommendationId))
  if (read.error && !read.data) {
    return <Failed what="This recommendation" error={read.error} retry={() => void read.refetch()} />
  }
  if (!read.data) return <Loading what="the recommendation" />
  const { found, etag } = read.data
  const point = found.answer.front.find(({ moves }) => moves === search.moves) ?? found.answer.front.at(-1)
  const looked = new Set(point?.positions)
  return (
    <Page
      title={titleOf(found)}
      lead={`On ${found.mesh.name}: ${STATES[found.state]}.`}
      action={<Decisions found={found} etag={etag} />}
    >
      {found.outcome && <Came found={found} />}
      {found.steps.length === 0 ? (
        <Notice tone="good" title="Everything should stay where it is.">
          No move gains more than it costs, as far as the round trips of these windows tell.
        </Notice>
      ) : (
        point && (
          <>
            {point.expected ? (
              <Total expected={point.expected} />
            ) : (
              <p className={styles.total}>
                What they gain was not measured: no window knows all paths before and after.
              </p>
            )}
            {found.answer.front.length > 1 && (
              <Slide found={found} moves={point.moves} onMoves={(moves) => onSearch({ moves })} />
            )}
            <Strips found={found} looked={looked} />
            <Effects found={found} />
            <Moves steps={found.steps.filter(({ position }) => looked.has(position))} />
          </>
        )
      )}
      <Proof found={found} />
      {found.answer.network && found.answer.network.length > 0 && <Network arcs={found.answer.network} />}
    </Page>
  )
}

function titleOf({ steps }: Recommendation): string {
  if (steps.length === 0) return 'Stay'
  return steps.length === 1 ? 'One move' : `${formatCount(steps.length)} moves`
}

function Total({ expected }: { expected: Gain }) {
  const { before, after, gain } = expected
  return (
    <p className={styles.total}>
      <strong>{formatShare(before.mean)}</strong> now, <strong>{formatShare(after.mean)}</strong> afterwards:{' '}
      <strong className={styles.gain}>{formatChange(gain.mean)}</strong>{' '}
      <span className={pageStyles.quiet}>
        ({formatChange(gain.low)} to {formatChange(gain.high)} with 95 %, from {formatCount(gain.windows)} windows that
        had no say in the choice; it pays with {formatShare(expected.probability)})
      </span>
    </p>
  )
}

function Slide({ found, moves, onMoves }: { found: Recommendation; moves: number; onMoves: (moves: number) => void }) {
  const front = found.answer.front
  const at = front.findIndex((point) => point.moves === moves)
  return (
    <div className={styles.slide}>
      <span aria-hidden="true">Moves</span>
      <Slider
        className={styles.track}
        min={0}
        max={front.length - 1}
        step={1}
        value={at}
        label={null}
        thumbLabel="Moves looked at"
        thumbProps={{ 'aria-valuetext': `${moves} of ${found.steps.length}` }}
        onChange={(index) => onMoves(front[index]?.moves ?? moves)}
      />
      <output>
        {moves} of {found.steps.length}
      </output>
    </div>
  )
}

function Came({ found }: { found: Recommendation }) {
  const outcome = found.outcome
  if (!outcome) return null
  return (
    <Panel title="What came of it">
      <Notice tone={outcome.held ? 'good' : 'warn'} title={outcome.held ? 'As stated.' : 'Not as stated.'}>
        It promised {formatChange(outcome.gain_predicted)} and brought {formatChange(outcome.gain_observed)}:
        performance {formatShare(outcome.observed.mean)} in {formatCount(outcome.observed.windows)} windows since, where{' '}
        {formatShare(outcome.predicted.low)} to {formatShare(outcome.predicted.high)} was stated.
      </Notice>
    </Panel>
  )
}
