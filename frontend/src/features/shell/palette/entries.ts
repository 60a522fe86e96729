/** Entries of the palette, from the answers of the API and the places of the navigation. */

import type { ToOptions } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { IncidentSummary } from '~/api/incidents'
import type { SavedView } from '~/api/savedViews'
import type { Mesh, Roster, Vm } from '~/api/types'
import { ApplicationsIcon, CurvesIcon, IncidentsIcon, MeshesIcon, PathIcon, StarIcon, VmsIcon } from '~/ui/icons'
import { SEVERITIES } from '~/ui/severity'
import { placeGroups } from '../places'
import { strings } from '../strings'
import { type Findable, type Found, findPaths } from './find'

/** Something to open or to do. */
export interface Entry extends Findable {
  id: string
  Icon: ComponentType
  act: ToOptions | (() => void)
}

interface Named {
  id: string
  name: string
}

export const vmEntry = ({ id, name, zone }: Vm): Entry => ({
  id,
  name,
  detail: zone.name,
  Icon: VmsIcon,
  act: { to: '/vms/$vmId', params: { vmId: id } },
})

export const incidentEntry = ({ id, title, severity, mesh }: IncidentSummary): Entry => ({
  id,
  name: title,
  detail: `${SEVERITIES[severity].word}, ${mesh.name}`,
  Icon: IncidentsIcon,
  act: { to: '/incidents/$incidentId', params: { incidentId: id } },
})

export const applicationEntry = ({ id, name }: Named): Entry => ({
  id,
  name,
  Icon: ApplicationsIcon,
  act: { to: '/applications/$applicationId', params: { applicationId: id } },
})

export const curveEntry = ({ id, name }: Named): Entry => ({
  id,
  name,
  Icon: CurvesIcon,
  act: { to: '/curves/$curveId', params: { curveId: id } },
})

export const viewEntry = ({ id, name, address }: SavedView, open: (address: string) => void): Entry => ({
  id,
  name,
  Icon: StarIcon,
  act: () => open(address),
})

export const meshEntry = ({ id, name }: Named): Entry => ({
  id,
  name,
  Icon: MeshesIcon,
  act: { to: '/meshes/$meshId', params: { meshId: id } },
})

/** Return the paths of a mesh that two words name. */
export const pathEntries = (mesh: Mesh, { vms }: Roster, words: readonly string[], limit: number): Found<Entry>[] =>
  findPaths(vms, words, limit).map(({ source, target, rank }) => ({
    rank,
    item: {
      id: `${mesh.id} ${source.id} ${target.id}`,
      name: strings.pathName(source.name, target.name),
      detail: mesh.name,
      Icon: PathIcon,
      act: {
        to: '/meshes/$meshId/paths/$source/$target',
        params: { meshId: mesh.id, source: source.id, target: target.id },
      },
    },
  }))

/** Return the pages of the product; the detail of a tab is its place, that of another page its group. */
export const pageEntries = (meshId: string | undefined, hasRoute: (route: string) => boolean): Entry[] =>
  placeGroups(meshId, hasRoute).flatMap((group) =>
    group.places.flatMap(({ name: placeName, Icon, pages }) =>
      pages.map(({ name, words, link }) => ({
        id: `page ${name}`,
        name,
        detail: [pages.length > 1 ? placeName : group.name, ...(words ? [words] : [])].join(', '),
        Icon,
        act: link,
      })),
    ),
  )
