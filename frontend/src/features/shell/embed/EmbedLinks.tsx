import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { serverNow } from '~/api/connection'
import { type EmbedLink, embedLinksQuery, useRevokeEmbedLink } from '~/api/embeds'
import { type Clock, formatAge, formatDay } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { ActionError, Failed } from '~/ui/State'
import { strings } from '../strings'
import styles from './embed.module.css'

/** The links of the tenant: who made each, until when it is valid, when it was last used. */
export function EmbedLinks() {
  const links = useQuery(embedLinksQuery)
  const revoke = useRevokeEmbedLink()
  const clock = useClock()
  if (links.error && !links.data) {
    return <Failed what={strings.embedLinks} error={links.error} retry={() => void links.refetch()} />
  }
  if (!links.data?.length) return null
  return (
    <>
      <ActionError error={revoke.error} />
      <ul className={styles.links} aria-label={strings.embedLinks}>
        {links.data.map((link) => (
          <li key={link.id}>
            <div>
              <strong>{link.name}</strong>
              <p>{about(link, clock)}</p>
            </div>
            <Button
              size="compact-xs"
              variant="subtle"
              color="gray"
              aria-label={strings.revokeLink(link.name)}
              onClick={() => revoke.mutate(link.id)}
            >
              {strings.revoke}
            </Button>
          </li>
        ))}
      </ul>
    </>
  )
}

function about({ view, mesh, created_by, expires_at, last_used_at }: EmbedLink, clock: Clock): string {
  const day = formatDay(new Date(expires_at), clock)
  return [
    strings.embedViews[view](mesh.name),
    strings.createdBy(created_by),
    Date.parse(expires_at) > serverNow() ? strings.expiresOn(day) : strings.expiredOn(day),
    last_used_at ? strings.usedAgo(formatAge(serverNow() - Date.parse(last_used_at))) : strings.neverUsed,
  ].join(' · ')
}
