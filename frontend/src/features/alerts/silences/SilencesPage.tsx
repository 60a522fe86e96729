import { useQuery } from '@tanstack/react-query'
import { useEdits } from '~/api/access'
import { serverNow } from '~/api/connection'
import { type Silence, silencesQuery, useEndSilence } from '~/api/silences'
import { idsOf } from '~/lib/inTurn'
import { formatMoment, timeOf } from '~/lib/time'
import type { Bulk } from '~/ui/BulkBar'
import { CreateDrawer } from '~/ui/CreateDrawer'
import { useClock } from '~/ui/clock'
import { NoRows } from '~/ui/NoRows'
import { Page } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { Unloaded } from '~/ui/Unloaded'
import { useNow } from '~/ui/useNow'
import { matcherWords } from '../matcherWords'
import { strings } from '../strings'
import { NewSilence } from './NewSilence'
import { weeklyWords } from './silenceWords'

/** Silences, and the drawer that creates one. */
export function SilencesPage() {
  const silences = useQuery(silencesQuery)
  const edits = useEdits()
  if (!silences.data) {
    return <Unloaded query={silences} title={strings.silences} what={strings.silencesLower} failed={strings.silences} />
  }
  return (
    <Page
      title={strings.silences}
      lead={strings.silencesLead}
      action={
        edits && <CreateDrawer label={strings.newSilence}>{(close) => <NewSilence onDone={close} />}</CreateDrawer>
      }
    >
      {silences.data.length === 0 ? (
        <NoRows>{strings.noSilences}</NoRows>
      ) : (
        <List silences={silences.data} edits={edits} />
      )}
    </Page>
  )
}

function List({ silences, edits }: { silences: Silence[]; edits: boolean }) {
  const clock = useClock()
  // A list that was read just now may have a silence that ended after the last tick.
  const now = Math.max(useNow(10_000, serverNow), serverNow())
  const end = useEndSilence()
  const momentOf = (at: string) => formatMoment(new Date(at), clock)
  const isOver = ({ ends_at }: Silence) => Date.parse(ends_at) <= now
  const bulk: Bulk<Silence> = {
    nouns: [strings.silenceNoun, strings.silencesLower],
    name: ({ comment }) => comment,
    actions: [
      {
        label: strings.end,
        applies: (silence) => !isOver(silence),
        effect: strings.endSilencesEffect,
        run: (rows, watch) => end.each(idsOf(rows), watch),
      },
    ],
  }
  return (
    <RecordList
      label={strings.silences}
      rows={silences}
      id={(silence) => silence.id}
      bulk={edits && bulk}
      columns={[
        { title: strings.reason, as: 'head', by: { key: 'reason', value: (silence) => silence.comment } },
        {
          title: strings.matchers,
          cell: (silence) => silence.matchers.map(matcherWords).join(strings.and),
          as: 'wrap',
        },
        { title: strings.schedule, cell: weeklyWords },
        {
          title: strings.endsAt,
          cell: (silence) => momentOf(silence.ends_at),
          by: { key: 'ends', value: (silence) => timeOf(silence.ends_at) },
        },
        {
          title: strings.state,
          cell: (silence) => (isOver(silence) ? strings.expired : silence.active ? strings.active : strings.pending),
        },
        { title: strings.createdBy, as: 'quiet', by: { key: 'creator', value: (silence) => silence.created_by } },
      ]}
    />
  )
}
