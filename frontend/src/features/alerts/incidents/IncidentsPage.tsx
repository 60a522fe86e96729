import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEdits } from '~/api/access'
import { type IncidentState, type IncidentSummary, incidentsQuery, useDecideIncidents } from '~/api/incidents'
import { overviewQuery } from '~/api/overview'
import { idsOf } from '~/lib/inTurn'
import type { Bulk } from '~/ui/BulkBar'
import { WordLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { Page } from '~/ui/Page'
import { Failed, Loading } from '~/ui/State'
import { IncidentList } from '../IncidentList'
import { strings } from '../strings'
import { SHOWN_INCIDENTS, type ShownIncidents } from './search'

const SHOWN: Record<ShownIncidents, { label: string; states: IncidentState[]; none: string }> = {
  current: {
    label: strings.current,
    states: ['open', 'acknowledged'],
    none: strings.noOpenIncidents,
  },
  resolved: { label: strings.resolved, states: ['resolved'], none: strings.noResolvedIncidents },
  all: { label: strings.all, states: ['open', 'acknowledged', 'resolved'], none: strings.noIncidents },
}

interface Props {
  show: ShownIncidents
  onShow: (show: ShownIncidents) => void
}

/** Incidents, one row a cause, whatever the number of affected paths. */
export function IncidentsPage({ show, onShow }: Props) {
  const { states, none } = SHOWN[show]
  const incidents = useQuery(incidentsQuery(undefined, states))
  const edits = useEdits()
  const bulk = useBulk()
  if (incidents.error && !incidents.data) {
    return <Failed what={strings.incidents} error={incidents.error} retry={() => void incidents.refetch()} />
  }
  return (
    <Page
      title={strings.incidents}
      lead={strings.incidentsLead}
      action={
        <SegmentedControl
          aria-label={strings.stateFilter}
          size="xs"
          value={show}
          data={SHOWN_INCIDENTS.map((value) => ({ value, label: SHOWN[value].label }))}
          onChange={(chosen) => onShow(chosen as ShownIncidents)}
        />
      }
    >
      {!incidents.data ? (
        <Loading what={strings.incidentsLower} />
      ) : incidents.data.length === 0 ? (
        <NoIncidents none={none} />
      ) : (
        <IncidentList label={strings.incidents} incidents={incidents.data} isPage bulk={edits && bulk} />
      )}
    </Page>
  )
}

/** An empty list. It says so where nothing was ever measured: then the list would be empty whatever happens. */
function NoIncidents({ none }: { none: string }) {
  const overview = useQuery(overviewQuery)
  if (!overview.data && !overview.error) return <Loading what={strings.incidentsLower} />
  const isBlind = overview.data?.meshes.every(({ ended_at }) => ended_at === null)
  const next = isBlind
    ? { to: '/onboarding' as const, name: strings.addVm }
    : { to: '/alert-rules' as const, name: strings.seeRules }
  return (
    <NoRows next={<WordLink to={next.to}>{next.name}</WordLink>}>{isBlind ? strings.nothingMeasured : none}</NoRows>
  )
}

/** Decisions on several incidents. None is confirmed: an incident can be reopened. */
function useBulk(): Bulk<IncidentSummary> {
  const acknowledge = useDecideIncidents('acknowledge')
  const resolve = useDecideIncidents('resolve')
  return {
    nouns: [strings.incidentNoun, strings.incidentsNoun],
    name: ({ title }) => title,
    actions: [
      {
        label: strings.acknowledge,
        applies: ({ state }) => state === 'open',
        run: (rows, watch) => acknowledge.each(idsOf(rows), watch),
      },
      {
        label: strings.resolve,
        applies: ({ state }) => state !== 'resolved',
        run: (rows, watch) => resolve.each(idsOf(rows), watch),
      },
    ],
  }
}
