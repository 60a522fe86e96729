import type { ToOptions } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import {
  AlertsIcon,
  ApplicationsIcon,
  HeatmapIcon,
  HelpIcon,
  IncidentsIcon,
  LabIcon,
  OverviewIcon,
  PathsIcon,
  RecommendationsIcon,
  SettingsIcon,
  VmsIcon,
} from '~/ui/icons'
import { strings } from './strings'

/** A page with a name. */
export interface PlacePage {
  name: string
  link: ToOptions
  /** Other words by which search finds it. */
  words?: string
  /** Routes that belong to the page although their addresses do not begin with its own. */
  also?: readonly string[]
}

/** An entry of the navigation: one page, or several that are its tabs, of which it opens the first. */
export interface Place {
  name: string
  Icon: ComponentType
  pages: readonly PlacePage[]
}

export interface PlaceGroup {
  name: string
  places: readonly Place[]
}

/** Return the places of the product by group; those of a mesh are there once there is one. */
export function placeGroups(meshId: string | undefined, hasRoute: (route: string) => boolean): PlaceGroup[] {
  const alone = (name: string, Icon: ComponentType, link: ToOptions, more?: Partial<PlacePage>): Place => ({
    name,
    Icon,
    pages: [{ name, link, ...more }],
  })
  const params = { meshId: meshId ?? '' }
  const ofMesh = [
    alone(strings.heatmap, HeatmapIcon, { to: '/meshes/$meshId', params }),
    alone(
      strings.paths,
      PathsIcon,
      { to: '/meshes/$meshId/explore', params },
      { also: ['/meshes/$meshId/paths'], words: strings.explore },
    ),
  ]
  const groups: PlaceGroup[] = [
    {
      name: strings.observe,
      places: [
        alone(strings.overview, OverviewIcon, { to: '/' }),
        ...(meshId ? ofMesh : []),
        alone(strings.incidents, IncidentsIcon, { to: '/incidents' }),
      ],
    },
    {
      name: strings.improve,
      places: [
        {
          name: strings.applications,
          Icon: ApplicationsIcon,
          pages: [
            { name: strings.applications, link: { to: '/applications' } },
            { name: strings.foundInTraffic, link: { to: '/applications/traffic' } },
            { name: strings.contracts, link: { to: '/contracts' } },
            { name: strings.curves, link: { to: '/curves' } },
          ],
        },
        {
          name: strings.recommendations,
          Icon: RecommendationsIcon,
          pages: [
            { name: strings.recommendations, link: { to: '/recommendations' } },
            { name: strings.whatIf, link: { to: '/what-if' } },
          ],
        },
      ],
    },
    {
      name: strings.setUp,
      places: [
        {
          name: strings.alerts,
          Icon: AlertsIcon,
          pages: [
            { name: strings.rules, link: { to: '/alert-rules' } },
            { name: strings.whoIsTold, words: strings.receivers, link: { to: '/receivers' } },
            { name: strings.silences, link: { to: '/silences' } },
            { name: strings.annotations, link: { to: '/annotations' } },
          ],
        },
        {
          name: strings.inventory,
          Icon: VmsIcon,
          pages: [
            { name: strings.vms, link: { to: '/vms' }, also: ['/onboarding'] },
            { name: strings.meshes, link: { to: '/meshes' }, also: ['/meshes/$meshId/settings'] },
            { name: strings.zones, link: { to: '/zones' } },
          ],
        },
      ],
    },
    {
      name: strings.more,
      places: [
        {
          name: strings.lab,
          Icon: LabIcon,
          pages: [
            { name: strings.fairness, link: { to: '/advisors/fairness' } },
            { name: strings.transport, link: { to: '/advisors/transport' } },
            { name: strings.shaping, link: { to: '/advisors/shaping' } },
            { name: strings.computeMix, link: { to: '/advisors/compute-mix' } },
            { name: strings.tailLab, link: { to: '/advisors/tail-lab' } },
            { name: strings.simulations, link: { to: '/simulations' } },
            { name: strings.learningInProduction, link: { to: '/curves/learning' } },
            { name: strings.artifacts, link: { to: '/artifacts' } },
          ],
        },
        {
          name: strings.settings,
          Icon: SettingsIcon,
          pages: [
            { name: strings.tenant, link: { to: '/tenant' } },
            { name: strings.members, link: { to: '/members' } },
            { name: strings.singleSignOn, link: { to: '/single-sign-on' } },
            { name: strings.apiKeys, link: { to: '/api-keys' } },
            { name: strings.metricExports, link: { to: '/metric-exports' } },
            { name: strings.usage, link: { to: '/usage' } },
            { name: strings.jobs, link: { to: '/jobs' } },
            { name: strings.auditLog, link: { to: '/audit' } },
          ],
        },
        {
          name: strings.help,
          Icon: HelpIcon,
          pages: [
            { name: strings.help, link: { to: '/help/$', params: { _splat: '' } } },
            { name: strings.apiReference, link: { to: '/help/reference' } },
            { name: strings.about, link: { to: '/about' } },
          ],
        },
      ],
    },
  ]
  return groups.map(({ name, places }) => ({
    name,
    places: places.map((place) => ({
      ...place,
      pages: place.pages.filter(({ link }) => hasRoute(String(link.to))),
    })),
  }))
}

const isWithin = (route: string, root: string) => route === root || (root !== '/' && route.startsWith(`${root}/`))

interface Current {
  place?: Place
  page?: PlacePage
}

/** Return the page that a route such as "/curves/$curveId" belongs to, the one whose own route is the nearest, and its place. */
export function currentPlace(groups: readonly PlaceGroup[], route: string): Current {
  const shown = route.length > 1 ? route.replace(/\/$/, '') : route
  let nearest: Current = {}
  let length = 0
  for (const place of groups.flatMap(({ places }) => places)) {
    for (const page of place.pages) {
      for (const root of [String(page.link.to), ...(page.also ?? [])]) {
        if (root.length > length && isWithin(shown, root)) {
          nearest = { place, page }
          length = root.length
        }
      }
    }
  }
  return nearest
}
