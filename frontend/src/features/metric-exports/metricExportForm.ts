/** The fields of a metric export, from and to a form. */

import type { MetricExport, MetricExportInput } from '~/api/metricExports'
import { strings } from './strings'

/** The fields that are edited; the authentication is not among them, because it is never shown. */
export type Fields = Required<Omit<MetricExportInput, 'authentication'>>

export const NEW: Fields = { name: '', kind: 'remote_write', url: '', headers: {}, paths: [], paused: false }

/** Return the edited fields of an export. */
export function fieldsOf({ name, kind, url, headers, paths, paused }: MetricExport): Fields {
  return { name, kind, url, headers, paths, paused }
}

/** Return headers as text, a line each. */
export const linesOf = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** Return what was typed; the chosen paths of a mesh that stays chosen are those of `before`. */
export function typedIn(form: FormData, before: Fields): Fields {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const lines = text('headers').split('\n').filter(Boolean)
  const chosen = form.getAll('meshes').map(String)
  const known = before.paths.filter(({ mesh_id }) => chosen.includes(mesh_id))
  const added = chosen.filter((id) => known.every(({ mesh_id }) => mesh_id !== id))
  return {
    name: text('name'),
    kind: text('kind') === 'otlp' ? 'otlp' : 'remote_write',
    url: text('url'),
    headers: Object.fromEntries(
      lines.map((line) => {
        const [name = '', ...value] = line.split(':')
        return [name.trim(), value.join(':').trim()]
      }),
    ),
    paths: [...known, ...added.map((mesh_id) => ({ mesh_id, selections: ['mesh'] }))],
    paused: form.get('paused') !== null,
  }
}

/** Return the fields as text by label, to show what another person has changed. */
export const describe = ({ name, kind, url, headers, paths, paused }: Fields): Record<string, string> => ({
  [strings.name]: name,
  [strings.protocol]: strings.protocols[kind],
  [strings.url]: url,
  [strings.headers]: linesOf(headers),
  [strings.pathsOf]: paths.map(({ mesh_id, selections }) => `${mesh_id} ${selections.join(' ')}`).join('; '),
  [strings.paused]: strings.pausedShown(paused),
})
