import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { serverNow } from '~/api/connection'
import { type Silence, silencesQuery, useEndSilence } from '~/api/silences'
import { formatMoment, zoneName } from '~/lib/time'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { Page, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { Failed, Loading } from '~/ui/State'
import { useNow } from '~/ui/useNow'
import { useEdits } from '../session/useEdits'
import { NewSilence } from './NewSilence'
import { matcherWords, weeklyWords } from './silenceWords'
import { strings } from './strings'

/** Silences, and the form that creates one. */
export function SilencesPage() {
  const silences = useQuery(silencesQuery)
  const edits = useEdits()
  if (silences.error && !silences.data) {
    return <Failed what={strings.silences} error={silences.error} retry={() => void silences.refetch()} />
  }
  return (
    <Page title={strings.silences} lead={strings.silencesLead}>
      {!silences.data ? (
        <Loading what={strings.silencesLower} />
      ) : silences.data.length === 0 ? (
        <p className={pageStyles.lead}>{strings.noSilences}</p>
      ) : (
        <List silences={silences.data} edits={edits} />
      )}
      {edits && <NewSilence />}
    </Page>
  )
}

function List({ silences, edits }: { silences: Silence[]; edits: boolean }) {
  const clock = useClock()
  const now = useNow(10_000, serverNow)
  const end = useEndSilence()
  const [ending, setEnding] = useState<Silence | null>(null)
  const momentOf = (at: string) => `${formatMoment(new Date(at), clock)} ${zoneName(clock, new Date(at))}`
  const isOver = ({ ends_at }: Silence) => Date.parse(ends_at) <= now
  return (
    <>
      <Records
        label={strings.silences}
        rows={silences}
        id={(one) => one.id}
        columns={[
          { title: strings.reason, cell: (one) => one.comment, as: 'head' },
          { title: strings.matchers, cell: (one) => one.matchers.map(matcherWords).join(strings.and), as: 'wrap' },
          { title: strings.schedule, cell: weeklyWords },
          { title: strings.endsAt, cell: (one) => momentOf(one.ends_at) },
          {
            title: strings.state,
            cell: (one) => (isOver(one) ? strings.expired : one.active ? strings.active : strings.pending),
          },
          { title: strings.createdBy, cell: (one) => one.created_by, as: 'quiet' },
          ...(edits
            ? [
                {
                  title: strings.actions,
                  cell: (one: Silence) =>
                    !isOver(one) && (
                      <RowAction label={strings.endName(one.comment)} onClick={() => setEnding(one)}>
                        {strings.end}
                      </RowAction>
                    ),
                },
              ]
            : []),
        ]}
      />
      <Confirm
        title={strings.endName(ending?.comment ?? '')}
        action={strings.end}
        about={ending?.id ?? null}
        doing={end}
        onClose={() => setEnding(null)}
      >
        {strings.endSilenceEffect}
      </Confirm>
    </>
  )
}
