import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { browserSessionsQuery, endSessions, useEndSession } from '~/api/account'
import { serverNow } from '~/api/connection'
import { formatMoment } from '~/lib/time'
import { Age } from '~/ui/Age'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Failed, Loading } from '~/ui/State'
import styles from './account.module.css'
import { strings } from './strings'

/** Browsers in which the person is signed in, in all tenants. */
export function SessionsPanel() {
  const sessions = useQuery(browserSessionsQuery)
  const clock = useClock()
  const end = useEndSession()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const endMany = useMutation({
    mutationFn: endSessions,
    onSuccess: async (_, keepThis) => {
      if (keepThis) return queryClient.invalidateQueries({ queryKey: browserSessionsQuery.queryKey })
      queryClient.clear()
      return navigate({ to: '/sign-in' })
    },
  })
  if (sessions.error && !sessions.data) {
    return <Failed what={strings.sessionsLower} error={sessions.error} retry={() => void sessions.refetch()} />
  }
  return (
    <Panel title={strings.sessions} term="browser session">
      <p className={pageStyles.lead}>{strings.sessionsLead}</p>
      {sessions.data ? (
        <Records
          label={strings.sessions}
          rows={sessions.data}
          id={(row) => row.id}
          isCurrent={(row) => row.is_current}
          columns={[
            { title: strings.browser, cell: (row) => row.browser, as: 'head' },
            { title: strings.address, cell: (row) => row.address },
            { title: strings.tenant, cell: (row) => row.tenant_name },
            { title: strings.signedIn, cell: (row) => formatMoment(new Date(row.created_at), clock) },
            { title: strings.lastUsed, cell: (row) => <Age at={row.last_used_at} clock={clock} now={serverNow} /> },
            {
              title: strings.actions,
              cell: (row) =>
                row.is_current ? (
                  strings.thisBrowser
                ) : (
                  <RowAction label={strings.endOf(row.browser, row.address)} onClick={() => end.mutate(row.id)}>
                    {strings.end}
                  </RowAction>
                ),
            },
          ]}
        />
      ) : (
        <Loading what={strings.sessionsLower} />
      )}
      <ActionError error={end.error ?? endMany.error} />
      <div className={styles.row}>
        <Button variant="default" size="sm" onClick={() => endMany.mutate(true)} loading={endMany.isPending}>
          {strings.endOthers}
        </Button>
        <Button variant="default" size="sm" onClick={() => endMany.mutate(false)} loading={endMany.isPending}>
          {strings.endAll}
        </Button>
      </div>
    </Panel>
  )
}
