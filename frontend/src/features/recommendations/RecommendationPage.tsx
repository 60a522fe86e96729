import { Group, Slider } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { EditorsOnly } from '~/api/EditorsOnly'
import { recommendationQuery, stateOf } from '~/api/recommendations'
import type { Gain, Recommendation } from '~/api/types'
import { formatChange, formatChanges, formatProbability, formatShare } from '~/lib/performance'
import type { Patch } from '~/lib/searchParams'
import { formatMoment } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { ButtonLink, WordLink } from '~/ui/links'
import { Page, pageStyles } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { BindingLimits } from './BindingLimits'
import { CarryOut } from './CarryOut'
import { Decisions } from './Decisions'
import { Effects } from './Effects'
import { Moves } from './Moves'
import { Network } from './Network'
import { basisOf } from './names'
import { MeasuredResult } from './Outcome'
import { PriceDifference } from './PriceDifference'
import { Proof } from './Proof'
import styles from './recommendations.module.css'
import type { RecommendationSearch } from './search'
import { strings } from './strings'

interface Props {
  recommendationId: string
  search: RecommendationSearch
  onSearch: (patch: Patch<RecommendationSearch>) => void
}

/** One recommendation: its moves, their gain, its basis and the measured result. */
export function RecommendationPage({ recommendationId, search, onSearch }: Props) {
  const read = useQuery(recommendationQuery(recommendationId))
  if (!read.data) {
    return (
      <Unloaded
        query={read}
        title={strings.recommendation}
        what={strings.recommendationLower}
        failed={strings.theRecommendation}
      />
    )
  }
  const { recommendation, etag } = read.data
  const point =
    recommendation.result.pareto_front.find(({ moves }) => moves === search.moves) ??
    recommendation.result.pareto_front.at(-1)
  const shown = new Set(point?.positions)
  return (
    <Page
      title={titleOf(recommendation)}
      lead={strings.onMesh(recommendation.mesh.name, stateOf(recommendation))}
      action={
        <Group gap="xs">
          {recommendation.steps.length > 0 && (
            <ButtonLink
              variant="default"
              to="/meshes/$meshId"
              params={{ meshId: recommendation.mesh.id }}
              search={{ moves: recommendationId }}
            >
              {strings.showOnHeatmap}
            </ButtonLink>
          )}
          {recommendation.steps.length > 0 && !['dismissed', ...OVER].includes(recommendation.state) && (
            <CarryOut recommendationId={recommendationId} />
          )}
          <EditorsOnly>
            <Decisions recommendation={recommendation} etag={etag} />
          </EditorsOnly>
        </Group>
      }
    >
      <Standing recommendation={recommendation} />
      <MeasuredResult recommendation={recommendation} />
      {recommendation.steps.length === 0 && recommendation.result.evidence.shortage ? (
        <Notice tone="warn" title={strings.tooFewWindows}>
          {strings.shortage(recommendation.result.evidence.shortage)}
        </Notice>
      ) : recommendation.steps.length === 0 ? (
        <NoMoves recommendation={recommendation} />
      ) : (
        point && (
          <>
            {point.expected ? (
              <Total expected={point.expected} basis={basisOf(recommendation)} />
            ) : (
              <p className={styles.total}>{strings.gainNotMeasured}</p>
            )}
            {recommendation.result.pareto_front.length > 1 && (
              <MovesSlider
                recommendation={recommendation}
                moves={point.moves}
                onMoves={(moves) => onSearch({ moves })}
              />
            )}
            <Effects recommendation={recommendation} />
            <PriceDifference recommendationId={recommendationId} />
            <Moves steps={recommendation.steps.filter(({ position }) => shown.has(position))} />
          </>
        )
      )}
      <BindingLimits recommendation={recommendation} />
      <Proof recommendation={recommendation} />
      {recommendation.result.network && recommendation.result.network.length > 0 && (
        <Network arcs={recommendation.result.network} />
      )}
    </Page>
  )
}

/** States in which a recommendation ended by itself. */
const OVER: readonly string[] = ['withdrawn', 'superseded', 'expired'] satisfies Recommendation['state'][]

/** What the moves are for, and until when they can be applied; or why they no longer can. */
function Standing({ recommendation: { incident, state, reason, expires_at } }: { recommendation: Recommendation }) {
  const clock = useClock()
  const isOpen = state === 'proposed' || state === 'accepted'
  if (OVER.includes(state)) {
    return (
      <Notice tone="warn" title={strings.overTitle}>
        {reason}
      </Notice>
    )
  }
  return (
    <p className={pageStyles.lead}>
      {incident && (
        <>
          {strings.forIncident}{' '}
          <WordLink to="/incidents/$incidentId" params={{ incidentId: incident.id }}>
            {incident.title}
          </WordLink>
          .{' '}
        </>
      )}
      {isOpen && expires_at && strings.usableUntil(formatMoment(new Date(expires_at), clock))}
      {(state === 'applied' || state === 'verified') && reason}
    </p>
  )
}

function titleOf({ steps, result }: Recommendation): string {
  if (steps.length === 0) return result.evidence.shortage ? strings.notEvaluatedTitle : strings.noMoveTitle
  return steps.length === 1 ? strings.oneMove : strings.moveCount(formatCount(steps.length))
}

/** Return true if a limit or doubtful measurements rule out better places. */
const isLimited = ({ result }: Recommendation) =>
  [result.rejected, result.binding ?? [], result.broken ?? []].some((limits) => limits.length > 0)

function NoMoves({ recommendation }: { recommendation: Recommendation }) {
  if (recommendation.request.moves_max === 0) {
    return (
      <Notice tone="info" title={strings.noMovesAllowed}>
        {strings.noMovesAllowedLead}
      </Notice>
    )
  }
  return (
    <Notice tone={isLimited(recommendation) ? 'info' : 'good'} title={strings.placementOptimal}>
      {isLimited(recommendation) ? strings.placementLimitedLead : strings.placementOptimalLead}
    </Notice>
  )
}

function Total({ expected, basis }: { expected: Gain; basis: string }) {
  const { before, after, gain } = expected
  return (
    <p className={styles.total}>
      <strong>{formatShare(before.mean)}</strong> {strings.nowThen} <strong>{formatShare(after.mean)}</strong>{' '}
      {strings.afterwards} <strong className={styles.gain}>{formatChange(gain.mean)}</strong>{' '}
      <span className={pageStyles.quiet}>
        {strings.gainInterval(
          ...formatChanges(gain.low, gain.high),
          formatCount(gain.windows),
          formatProbability(expected.probability),
        )}{' '}
        {basis}
      </span>
      {expected.doubts.length > 0 && (
        <span className={pageStyles.lead}> {strings.doubts(expected.doubts.join('; '))}</span>
      )}
    </p>
  )
}

function MovesSlider({
  recommendation,
  moves,
  onMoves,
}: {
  recommendation: Recommendation
  moves: number
  onMoves: (moves: number) => void
}) {
  const front = recommendation.result.pareto_front
  const at = front.findIndex((point) => point.moves === moves)
  return (
    <div className={styles.slide}>
      <span aria-hidden="true">{strings.moves}</span>
      <Slider
        className={styles.track}
        min={0}
        max={front.length - 1}
        step={1}
        value={at}
        label={null}
        thumbLabel={strings.movesShown}
        thumbValueText={strings.countOf(moves, recommendation.steps.length)}
        onChange={(index) => onMoves(front[index]?.moves ?? moves)}
      />
      <output>{strings.countOf(moves, recommendation.steps.length)}</output>
    </div>
  )
}
