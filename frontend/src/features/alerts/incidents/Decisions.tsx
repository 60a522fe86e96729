import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '~/api/access'
import { type Incident, useAssignIncident, useDecideIncident } from '~/api/incidents'
import { ActionError } from '~/ui/State'
import { strings } from '../strings'

/** The actions that the state of an incident allows. */
export function Decisions({ incident, etag }: { incident: Incident; etag: string }) {
  const { data: session } = useQuery(sessionQuery)
  const decide = useDecideIncident(incident.id, etag)
  const assign = useAssignIncident(incident.id, etag)
  const busy = decide.isPending || assign.isPending
  const isAssignedToMe = session?.user.email === incident.assignee
  return (
    <div>
      <Group gap="xs">
        {incident.state !== 'resolved' && session && (
          <Button
            variant="default"
            disabled={busy}
            onClick={() => assign.mutate(isAssignedToMe ? null : session.user.email)}
          >
            {isAssignedToMe ? strings.unassign : strings.assignToMe}
          </Button>
        )}
        <Button
          variant={incident.state === 'open' ? 'default' : 'filled'}
          disabled={busy}
          onClick={() => decide.mutate(incident.state === 'resolved' ? 'reopen' : 'resolve')}
        >
          {incident.state === 'resolved' ? strings.reopen : strings.resolve}
        </Button>
        {incident.state === 'open' && (
          <Button variant="filled" disabled={busy} onClick={() => decide.mutate('acknowledge')}>
            {strings.acknowledge}
          </Button>
        )}
      </Group>
      <ActionError error={decide.error ?? assign.error} />
    </div>
  )
}
