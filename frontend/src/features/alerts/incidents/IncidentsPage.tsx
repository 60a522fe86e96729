import { Button, Group, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type IncidentState, incidentsQuery } from '~/api/incidents'
import { Page, pageStyles } from '~/ui/Page'
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
  if (incidents.error && !incidents.data) {
    return <Failed what={strings.incidents} error={incidents.error} retry={() => void incidents.refetch()} />
  }
  return (
    <Page
      title={strings.incidents}
      lead={strings.incidentsLead}
      action={
        <Group gap="xs">
          <Button variant="default" size="xs" renderRoot={(root) => <Link {...root} to="/alert-rules" />}>
            {strings.rulesShort}
          </Button>
          <Button variant="default" size="xs" renderRoot={(root) => <Link {...root} to="/receivers" />}>
            {strings.receivers}
          </Button>
          <Button variant="default" size="xs" renderRoot={(root) => <Link {...root} to="/silences" />}>
            {strings.silences}
          </Button>
          <SegmentedControl
            aria-label={strings.stateFilter}
            size="xs"
            value={show}
            data={SHOWN_INCIDENTS.map((value) => ({ value, label: SHOWN[value].label }))}
            onChange={(chosen) => onShow(chosen as ShownIncidents)}
          />
        </Group>
      }
    >
      {!incidents.data ? (
        <Loading what={strings.incidentsLower} />
      ) : incidents.data.length === 0 ? (
        <p className={pageStyles.lead}>{none}</p>
      ) : (
        <IncidentList label={strings.incidents} incidents={incidents.data} isPage />
      )}
    </Page>
  )
}
