import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useEdits } from '~/api/access'
import { useFollowedJob } from '~/api/jobs'
import { tailStudiesQuery, tailStudyQuery, useRunTailStudy } from '~/api/tailLab'
import { Problem } from '~/lib/problem'
import type { Patch } from '~/lib/searchParams'
import { formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'
import { Waiting } from '~/ui/Waiting'
import { requestOf, type TailSearch } from './question'
import { StudyForm } from './StudyForm'
import { StudyResults } from './StudyResults'
import { strings } from './strings'

interface Props {
  search: TailSearch
  onSearch: (patch: Patch<TailSearch>) => void
}

/** Which order of packets at a bottleneck link spares the slowest flows. */
export function TailLabPage({ search, onSearch }: Props) {
  const run = useRunTailStudy()
  const [sizes, setSizes] = useState('')
  const edits = useEdits()
  return (
    <Page title={strings.tailLab} lead={strings.lead}>
      {search.topology && <Notice tone="info">{strings.noNetworks}</Notice>}
      <Panel title={strings.study}>
        {edits ? (
          <StudyForm
            search={search}
            onSearch={onSearch}
            sizes={sizes}
            onSizes={setSizes}
            starting={run.isPending}
            onStart={() =>
              run.mutate(requestOf(search, sizes), {
                onSuccess: ({ id }) => onSearch({ study: id, topology: undefined }),
              })
            }
          />
        ) : (
          <Notice tone="info">{strings.onlyEditors}</Notice>
        )}
        <ActionError error={run.error} />
      </Panel>
      {search.study && <Study key={search.study} studyId={search.study} search={search} onSearch={onSearch} />}
      <Studies />
    </Page>
  )
}

function Study({ studyId, search, onSearch }: Props & { studyId: string }) {
  const { job, error, waiting } = useFollowedJob(studyId)
  const study = useQuery({ ...tailStudyQuery(studyId), enabled: job?.state === 'succeeded' })
  if (error) return <ActionError error={error} />
  if (job?.problem) return <Notice tone="bad">{job.problem.detail}</Notice>
  if (job?.state === 'cancelled') return <Notice tone="info">{strings.cancelled}</Notice>
  if (study.error instanceof Problem && study.error.code === 'tail_study_retired')
    return <Notice tone="info">{study.error.message}</Notice>
  if (waiting)
    return (
      <Panel>
        <Waiting what={strings.studyLower} waiting={waiting} />
        {job?.note && <p className={pageStyles.lead}>{job.note}</p>}
      </Panel>
    )
  return (
    <QueryResult query={study} what={strings.studyLower}>
      {(found) => <StudyResults study={found} gains={search.gains} onGains={(gains) => onSearch({ gains })} />}
    </QueryResult>
  )
}

function Studies() {
  const clock = useClock()
  const query = useQuery(tailStudiesQuery)
  return (
    <Panel title={strings.studies}>
      <QueryResult query={query} what={strings.studies}>
        {({ items }) =>
          items.length === 0 ? (
            <Notice tone="info" title={strings.noStudies}>
              {strings.noStudiesLead}
            </Notice>
          ) : (
            <Records
              low
              label={strings.studies}
              rows={items}
              id={({ id }) => id}
              columns={[
                {
                  title: strings.study,
                  cell: ({ id, title }) => (
                    <Link to="/advisors/tail-lab" search={{ study: id }}>
                      {title}
                    </Link>
                  ),
                  as: 'head',
                },
                { title: strings.created, cell: ({ created_at }) => formatMoment(new Date(created_at), clock) },
                { title: strings.state, cell: ({ state }) => strings.states[state] },
              ]}
            />
          )
        }
      </QueryResult>
    </Panel>
  )
}
