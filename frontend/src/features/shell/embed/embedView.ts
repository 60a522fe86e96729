/** The view of a page that a link can show elsewhere. */

import { useMatches, useParams } from '@tanstack/react-router'
import type { EmbedInput } from '~/api/embeds'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The view of the page that an embed link can show. */
    embed?: 'heatmap' | 'path' | 'overview'
  }
}

export type EmbedTarget = Pick<EmbedInput, 'view' | 'source_vm_id' | 'target_vm_id'> & {
  /** Undefined on a page about all meshes: one of them is chosen. */
  mesh_id: string | undefined
}

/** Return what a link to the open page shows; undefined on pages that no link can show. */
export function useEmbedTarget(): EmbedTarget | undefined {
  const view = useMatches({ select: (matches) => matches.find(({ staticData }) => staticData.embed)?.staticData.embed })
  const { meshId, source, target } = useParams({ strict: false })
  if (!view) return undefined
  if (view !== 'path') return { view, mesh_id: meshId }
  return { view, mesh_id: meshId, source_vm_id: source ?? null, target_vm_id: target ?? null }
}

/** Parameters of a page that mean nothing, or too much, to its readers elsewhere. */
const LEFT_OUT = ['kiosk', 'cell', 'find', 'select', 'app', 'tab', 'spike', 'q', 'sort', 'page', 'at', 'film', 'versus']

/** Return the address of an embedded page; the token is after "#", which browsers send to no server. */
export function embedAddress(origin: string, search: string, token: string): string {
  const query = new URLSearchParams(search)
  for (const name of LEFT_OUT) query.delete(name)
  return `${origin}/embed${query.size > 0 ? `?${query}` : ''}#${token}`
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] as string)

/** Return the frame of an embedded page as HTML. */
export const embedSnippet = (address: string, title: string) =>
  `<iframe src="${escaped(address)}" title="${escaped(title)}" width="100%" height="720" style="border:0" loading="lazy" referrerpolicy="no-referrer"></iframe>`
