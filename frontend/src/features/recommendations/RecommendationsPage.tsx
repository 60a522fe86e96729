import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEdits } from '~/api/access'
import { serverNow } from '~/api/connection'
import { EditorsOnly } from '~/api/EditorsOnly'
import { accuracyQuery, recommendationsQuery, stateOf, useAcceptListed, useDismissListed } from '~/api/recommendations'
import type { Accuracy, RecommendationSummary } from '~/api/types'
import { formatChange, formatChanges, formatShare } from '~/lib/performance'
import { sentenceCase } from '~/lib/text'
import { formatMoment, timeOf } from '~/lib/time'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Age } from '~/ui/Age'
import type { Bulk } from '~/ui/BulkBar'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { Unloaded } from '~/ui/Unloaded'
import { FindMoves } from './FindMoves'
import type { FindMovesSearch } from './search'
import { strings } from './strings'

/** Recommendations, their measured accuracy, and the form that requests one. */
export function RecommendationsPage({ search = {} }: { search?: FindMovesSearch }) {
  const recommendations = useQuery(recommendationsQuery)
  const { data: accuracy } = useQuery(accuracyQuery)
  if (!recommendations.data) {
    const { recommendations: title, recommendationsLower: what } = strings
    return <Unloaded {...{ query: recommendations, title, what, failed: title }} />
  }
  return (
    <Page title={strings.recommendations} lead={strings.recommendationsLead}>
      <EditorsOnly>
        <FindMoves search={search} />
      </EditorsOnly>
      {accuracy && <AccuracySummary accuracy={accuracy} />}
      {recommendations.data.length === 0 ? (
        <p className={pageStyles.lead}>
          {strings.noRecommendations} <Link to="/applications">{strings.applicationLower}</Link>
          {strings.noRecommendationsEnd}
        </p>
      ) : (
        <List items={recommendations.data} />
      )}
    </Page>
  )
}

function List({ items }: { items: RecommendationSummary[] }) {
  const clock = useClock()
  const edits = useEdits()
  const accept = useAcceptListed()
  const dismiss = useDismissListed()
  const bulk: Bulk<RecommendationSummary> = {
    nouns: [strings.recommendationNoun, strings.recommendationsLower],
    name: ({ mesh, created_at }) => strings.recommendationOf(mesh.name, formatMoment(new Date(created_at), clock)),
    actions: [
      {
        label: strings.accept,
        applies: ({ state, moves }) => state === 'proposed' && moves > 0,
        run: (rows, watch) => accept.each(rows, watch),
      },
      {
        label: strings.dismiss,
        applies: ({ state, moves }) => (state === 'proposed' || state === 'accepted') && moves > 0,
        effect: strings.dismissEffect,
        run: (rows, watch) => dismiss.each(rows, watch),
      },
    ],
  }
  return (
    <RecordList
      bulk={edits && bulk}
      label={strings.recommendations}
      rows={items}
      id={(recommendation) => recommendation.id}
      columns={[
        {
          title: strings.created,
          cell: (recommendation) => (
            <TextLink to="/recommendations/$recommendationId" params={{ recommendationId: recommendation.id }}>
              <Age at={recommendation.created_at} clock={clock} now={serverNow} />
            </TextLink>
          ),
          as: 'head',
          by: { key: 'created', value: (recommendation) => timeOf(recommendation.created_at) },
        },
        { title: strings.mesh, by: { key: 'mesh', value: (recommendation) => recommendation.mesh.name, filter: true } },
        {
          title: strings.moves,
          cell: (recommendation) => (recommendation.moves === 0 ? strings.noMoves : formatCount(recommendation.moves)),
          as: 'number',
          by: { key: 'moves', value: (recommendation) => recommendation.moves },
        },
        {
          title: strings.gain,
          cell: ({ total }) => (total ? formatChange(total.gain.mean) : NO_VALUE),
          as: 'number',
          by: { key: 'gain', value: ({ total }) => total?.gain.mean },
        },
        {
          title: strings.confidenceInterval,
          cell: ({ total }) => (total ? strings.interval(...formatChanges(total.gain.low, total.gain.high)) : NO_VALUE),
          as: 'number',
        },
        {
          title: strings.state,
          cell: (recommendation) => sentenceCase(stateOf(recommendation)),
          by: { key: 'state', value: stateOf, filter: true },
        },
        {
          title: strings.trigger,
          cell: (recommendation) =>
            recommendation.trigger === 'asked'
              ? strings.requestedBy(recommendation.requested_by)
              : sentenceCase(recommendation.trigger),
          as: 'quiet',
        },
      ]}
    />
  )
}

function AccuracySummary({ accuracy }: { accuracy: Accuracy }) {
  const judged = accuracy.held + accuracy.not_held
  const excluded = accuracy.cannot_tell + accuracy.undone
  if (!(judged + excluded > 0)) return null
  return (
    <Panel title={strings.accuracy}>
      <p className={pageStyles.lead}>
        {judged > 0 &&
          strings.accuracySummary(
            formatCount(judged),
            formatCount(accuracy.held),
            formatShare(accuracy.held / judged),
            formatChange(accuracy.mean_gain_predicted),
            formatChange(accuracy.mean_gain_observed),
          )}{' '}
        {excluded > 0 && strings.accuracyExcluded(formatCount(accuracy.cannot_tell), formatCount(accuracy.undone))}
      </p>
    </Panel>
  )
}
