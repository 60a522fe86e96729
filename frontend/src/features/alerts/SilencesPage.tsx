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

/** What nobody is told of. */
export function SilencesPage() {
  const silences = useQuery(silencesQuery)
  const edits = useEdits()
  if (silences.error && !silences.data) {
    return <Failed what="The list of silences" error={silences.error} retry={() => void silences.refetch()} />
  }
  return (
    <Page
      title="Silences"
      lead="Incidents that match are made all the same and say why nobody was told. When a silence ends and an incident goes on, it is told then."
    >
      {!silences.data ? (
        <Loading what="silences" />
      ) : silences.data.length === 0 ? (
        <p className={pageStyles.lead}>There is no silence: receivers hear of every incident that routes give them.</p>
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
        label="Silences"
        rows={silences}
        id={(one) => one.id}
        columns={[
          { title: 'Why', cell: (one) => one.comment, as: 'head' },
          { title: 'Incidents whose', cell: (one) => one.matchers.map(matcherWords).join(' and '), as: 'wrap' },
          { title: 'When', cell: weeklyWords },
          { title: 'Until', cell: (one) => momentOf(one.ends_at) },
          { title: 'State', cell: (one) => (isOver(one) ? 'Over' : one.active ? 'In force' : 'Waits') },
          { title: 'By', cell: (one) => one.created_by, as: 'quiet' },
          ...(edits
            ? [
                {
                  title: 'Actions',
                  cell: (one: Silence) =>
                    !isOver(one) && (
                      <RowAction label={`End ${one.comment}`} onClick={() => setEnding(one)}>
                        End
                      </RowAction>
                    ),
                },
              ]
            : []),
        ]}
      />
      <Confirm
        title={`End ${ending?.comment}`}
        action="End"
        about={ending?.id ?? null}
        doing={end}
        onClose={() => setEnding(null)}
      >
        Receivers are told of incidents it muted that still go on.
      </Confirm>
    </>
  )
}
