import { useQueryClient } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { readWithToken } from '~/api/client'
import type { Embed } from '~/api/embeds'
import { zonesQuery } from '~/api/inventory'
import { EmbedPage } from '~/features/embed/EmbedPage'
import { EmbeddedMatrix } from '~/features/matrix/EmbeddedMatrix'
import { matrixSearch } from '~/features/matrix/search'
import { EmbeddedOverview } from '~/features/overview/EmbeddedOverview'
import { EmbeddedPath } from '~/features/paths/EmbeddedPath'
import { PublicTitle } from '~/features/shell/DocumentTitle'
import { Freshness } from '~/features/shell/kiosk/Freshness'
import { LateAlertsBanner } from '~/features/shell/LateAlertsBanner'
import { strings } from '~/features/shell/strings'
import { appSearch, type Raw } from '~/lib/searchParams'
import { timeIn } from '~/lib/spans'

export const Route = createFileRoute('/embed')({
  staticData: { title: strings.embeddedView },
  // The state of the shared page. The token comes after "#", so that no server and no other site receives it.
  validateSearch: (raw: Raw) => ({ ...matrixSearch(raw), ...appSearch(raw), ...themeIn(raw) }),
  component: EmbedRoute,
})

/** The theme is chosen by the page around the frame: `main.tsx` reads it before the first picture. */
const themeIn = ({ theme }: Raw) => (theme === 'dark' || theme === 'light' ? { theme: theme as 'dark' | 'light' } : {})

function EmbedRoute() {
  const [token] = useState(() => location.hash.slice(1))
  const queryClient = useQueryClient()
  // Before the first query of the page.
  useState(() => {
    if (token) readWithToken(token)
    // Zones of all meshes are not part of the view.
    queryClient.setQueryDefaults(zonesQuery.queryKey, { enabled: false })
  })
  useKeptToken(token)
  return (
    <>
      <PublicTitle />
      <EmbedPage hasToken={token !== ''} freshness={<Freshness />}>
        {(embed) => (
          <>
            <LateAlertsBanner alerts={embed.alerts} />
            <View embed={embed} />
          </>
        )}
      </EmbedPage>
    </>
  )
}

/** A change of the address, such as a zoom in time, loses what is after "#"; a reload needs it. */
function useKeptToken(token: string) {
  const search = Route.useSearch()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address changes with the search
  useEffect(() => {
    if (token && !location.hash)
      history.replaceState(history.state, '', `${location.pathname}${location.search}#${token}`)
  }, [token, search])
}

function View({ embed: { mesh, view, source_vm_id: source, target_vm_id: target } }: { embed: Embed }) {
  const search = Route.useSearch()
  const time = timeIn(search)
  if (view === 'overview') return <EmbeddedOverview meshId={mesh.id} />
  if (view === 'path' && source && target) {
    const { statistic = 'p50' } = search
    return <EmbeddedPath mesh={mesh} source={source} target={target} statistic={statistic} time={time} />
  }
  return <EmbeddedMatrix mesh={mesh} search={search} />
}
