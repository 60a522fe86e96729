import type { ToOptions } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { ADVISORS } from '~/ui/advisors'
import {
  AboutIcon,
  AddIcon,
  AdvisorsIcon,
  AnnotationsIcon,
  ApplicationsIcon,
  ArtifactsIcon,
  AuditIcon,
  CurvesIcon,
  ExploreIcon,
  ExportIcon,
  HeatmapIcon,
  HelpIcon,
  IncidentsIcon,
  JobsIcon,
  KeyIcon,
  MembersIcon,
  MeshesIcon,
  OverviewIcon,
  ReceiversIcon,
  RecommendationsIcon,
  RulesIcon,
  SilencesIcon,
  SimulationsIcon,
  TenantIcon,
  UsageIcon,
  VmsIcon,
  WhatIfIcon,
  ZonesIcon,
} from '~/ui/icons'
import { strings } from './strings'

/** A page that the navigation leads to. */
export interface Place {
  name: string
  Icon: ComponentType
  link: ToOptions
  /** Routes that belong to the page although their addresses do not begin with its own. */
  also?: readonly string[]
  /** Pages that it leads to, and search finds, but the navigation does not list. */
  pages?: readonly Place[]
}

export interface PlaceGroup {
  name: string
  places: Place[]
}

/** Return the pages of the product by group; those of a mesh are there once there is one. */
export function placeGroups(meshId: string | undefined, hasRoute: (route: string) => boolean): PlaceGroup[] {
  const meshPlaces: Place[] = meshId
    ? [
        { name: strings.heatmap, Icon: HeatmapIcon, link: { to: '/meshes/$meshId', params: { meshId } } },
        { name: strings.explore, Icon: ExploreIcon, link: { to: '/meshes/$meshId/explore', params: { meshId } } },
      ]
    : []
  const ofMesh = meshId ? { mesh: meshId } : {}
  const groups: PlaceGroup[] = [
    {
      name: strings.observe,
      places: [
        { name: strings.overview, Icon: OverviewIcon, link: { to: '/' } },
        ...meshPlaces,
        { name: strings.incidents, Icon: IncidentsIcon, link: { to: '/incidents' } },
        { name: strings.annotations, Icon: AnnotationsIcon, link: { to: '/annotations' } },
      ],
    },
    {
      name: strings.applications,
      places: [
        { name: strings.applications, Icon: ApplicationsIcon, link: { to: '/applications' } },
        { name: strings.curves, Icon: CurvesIcon, link: { to: '/curves' } },
        { name: strings.recommendations, Icon: RecommendationsIcon, link: { to: '/recommendations' } },
        { name: strings.whatIf, Icon: WhatIfIcon, link: { to: '/what-if' } },
        { name: strings.simulations, Icon: SimulationsIcon, link: { to: '/simulations' } },
        { name: strings.advisors, Icon: AdvisorsIcon, link: { to: '/advisors' }, pages: ADVISORS },
      ],
    },
    {
      name: strings.alerting,
      places: [
        { name: strings.rules, Icon: RulesIcon, link: { to: '/alert-rules' } },
        { name: strings.receivers, Icon: ReceiversIcon, link: { to: '/receivers' } },
        { name: strings.silences, Icon: SilencesIcon, link: { to: '/silences' } },
      ],
    },
    {
      name: strings.inventory,
      places: [
        { name: strings.vms, Icon: VmsIcon, link: { to: '/vms' } },
        { name: strings.meshes, Icon: MeshesIcon, link: { to: '/meshes' }, also: ['/meshes/$meshId/settings'] },
        { name: strings.zones, Icon: ZonesIcon, link: { to: '/zones' } },
        { name: strings.artifacts, Icon: ArtifactsIcon, link: { to: '/artifacts' } },
        { name: strings.addVm, Icon: AddIcon, link: { to: '/onboarding', search: ofMesh } },
      ],
    },
    {
      name: strings.settings,
      places: [
        { name: strings.members, Icon: MembersIcon, link: { to: '/members' } },
        {
          name: strings.tenant,
          Icon: TenantIcon,
          link: { to: '/tenant' },
          also: ['/bucket-exports'],
          pages: [{ name: strings.bucketExports, Icon: ExportIcon, link: { to: '/bucket-exports' } }],
        },
        { name: strings.usage, Icon: UsageIcon, link: { to: '/usage' } },
        { name: strings.apiKeys, Icon: KeyIcon, link: { to: '/api-keys' } },
        { name: strings.jobs, Icon: JobsIcon, link: { to: '/jobs' } },
        { name: strings.audit, Icon: AuditIcon, link: { to: '/audit' } },
        {
          name: strings.help,
          Icon: HelpIcon,
          link: { to: '/help/$', params: { _splat: '' } },
          also: ['/about'],
          pages: [
            { name: strings.about, Icon: AboutIcon, link: { to: '/about' } },
            { name: strings.apiReference, Icon: HelpIcon, link: { to: '/help/reference' } },
          ],
        },
      ],
    },
  ]
  const present = (places: readonly Place[]) => places.filter(({ link }) => hasRoute(String(link.to)))
  return groups.map(({ name, places }) => ({
    name,
    places: present(places).map((place) => (place.pages ? { ...place, pages: present(place.pages) } : place)),
  }))
}

const isWithin = (route: string, root: string) => route === root || (root !== '/' && route.startsWith(`${root}/`))

/** Return the place that a route such as "/curves/$curveId" belongs to: the one whose own route is the nearest. */
export function currentPlace(groups: readonly PlaceGroup[], route: string): Place | undefined {
  const shown = route.length > 1 ? route.replace(/\/$/, '') : route
  let nearest: Place | undefined
  let length = 0
  for (const place of groups.flatMap(({ places }) => places)) {
    for (const root of [String(place.link.to), ...(place.also ?? [])]) {
      if (root.length > length && isWithin(shown, root)) {
        nearest = place
        length = root.length
      }
    }
  }
  return nearest
}
