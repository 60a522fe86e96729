import { Button, Group, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type IncidentState, incidentsQuery } from '~/api/incidents'
import { SHOWN_INCIDENTS, type ShownIncidents } from '~/lib/search'
import { Page, pageStyles } from '~/ui/Page'
import { Failed, Loading } from '~/ui/State'
import { IncidentList } from './IncidentList'

const SHOWN: Record<ShownIncidents, { label: string; states: IncidentState[]; none: string }> = {
  current: {
    label: 'Current',
    states: ['open', 'acknowledged'],
    none: 'Nothing is wrong now, as far as the rules of your meshes tell.',
  },
  resolved: { label: 'Resolved', states: ['resolved'], none: 'No incident has been resolved yet.' },
  all: { label: 'All', states: ['open', 'acknowledged', 'resolved'], none: 'There has been no incident yet.' },
}

interface Props {
  show: ShownIncidents
  onShow: (show: ShownIncidents) => void
}

/** What is wrong, and what was: one line a cause, however many paths it spoils. */
export function IncidentsPage({ show, onShow }: Props) {
  const { states, none } = SHOWN[show]
  const incidents = useQuery(incidentsQuery(undefined, states))
  if (incidents.error && !incidents.data) {
    return <Failed what="The list of incidents" error={incidents.error} retry={() => void incidents.refetch()} />
  }
  return (
    <Page
      title="Incidents"
      lead="What the rules of your meshes found: one incident for one cause, with a suspect. The newest hundred."
      action={
        <Group gap="xs">
          <Button variant="default" size="xs" renderRoot={(root) => <Link {...root} to="/alert-rules" />}>
            Rules
          </Button>
          <Button variant="default" size="xs" renderRoot={(root) => <Link {...root} to="/receivers" />}>
            Receivers
          </Button>
          <Button variant="default" size="xs" renderRoot={(root) => <Link {...root} to="/silences" />}>
            Silences
          </Button>
          <SegmentedControl
            aria-label="Which incidents"
            size="xs"
            value={show}
            data={SHOWN_INCIDENTS.map((value) => ({ value, label: SHOWN[value].label }))}
            onChange={(chosen) => onShow(chosen as ShownIncidents)}
          />
        </Group>
      }
    >
      {!incidents.data ? (
        <Loading what="incidents" />
      ) : incidents.data.length === 0 ? (
        <p className={pageStyles.lead}>{none}</p>
      ) : (
        <IncidentList label="Incidents" incidents={incidents.data} />
      )}
    </Page>
  )
}
