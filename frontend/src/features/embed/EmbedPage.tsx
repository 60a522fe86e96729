import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type MouseEvent, type ReactNode, useEffect } from 'react'
import { type Embed, embedQuery } from '~/api/embeds'
import { Problem } from '~/lib/problem'
import { useNamedPage } from '~/ui/pageName'
import { Empty, Failed, Loading } from '~/ui/State'
import styles from './embed.module.css'
import { strings } from './strings'

interface Props {
  /** Without a token there is nothing to show. */
  hasToken: boolean
  children: (embed: Embed) => ReactNode
  /** The age of the data. */
  freshness: ReactNode
}

/** A view of a mesh in a frame of another site: read-only, renewed with each window. */
export function EmbedPage({ hasToken, children, freshness }: Props) {
  const query = useQuery({ ...embedQuery, enabled: hasToken })
  useNamedPage(query.data?.name)
  useRenewal(query.data)
  if (!hasToken) return <Empty title={strings.noToken}>{strings.noTokenLead}</Empty>
  // Shown even after data: a revoked link must not leave its last picture.
  if (query.error instanceof Problem && query.error.status === 401) {
    return <Empty title={strings.ended}>{strings.endedLead}</Empty>
  }
  if (!query.data) {
    if (!query.error) return <Loading what={strings.viewLower} />
    return <Failed what={strings.thisView} error={query.error} retry={() => void query.refetch()} />
  }
  return (
    <div onClickCapture={openOutside} className={styles.embed}>
      <main>{children(query.data)}</main>
      <footer className={styles.foot}>
        {freshness}
        <a href="/">{strings.openConsole}</a>
      </footer>
    </div>
  )
}

/** Read everything again once per window: a stream of events cannot carry the token. */
function useRenewal(embed: Embed | undefined) {
  const queryClient = useQueryClient()
  const everyMs = embed && Math.max(10, embed.mesh.window_s) * 1_000
  const meshId = embed?.mesh.id
  useEffect(() => {
    if (!everyMs) return
    const timer = setInterval(() => {
      void queryClient.invalidateQueries({ queryKey: ['meshes', meshId, 'measured'] })
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs, meshId, queryClient])
}

/** Links lead to the console, which wants an account: they open outside the frame. */
function openOutside(event: MouseEvent) {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (!link) return
  event.preventDefault()
  event.stopPropagation()
  window.open(link.href, '_blank', 'noopener,noreferrer')
}
