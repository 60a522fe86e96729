import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import type { ToOptions } from '@tanstack/react-router'
import { type ComponentType, useMemo } from 'react'
import { applicationsQuery } from '~/api/applications'
import { curvesQuery } from '~/api/curves'
import { openIncidentsQuery } from '~/api/incidents'
import { vmsQuery } from '~/api/inventory'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import {
  AddIcon,
  ApplicationsIcon,
  CollapseIcon,
  CurvesIcon,
  ExpandIcon,
  IncidentsIcon,
  KeyboardIcon,
  MeshesIcon,
  MoonIcon,
  PathIcon,
  SunIcon,
  VmsIcon,
} from '~/ui/icons'
import { SEVERITIES } from '~/ui/severity'
import { useCurrentMesh } from '../MeshPicker'
import { placeGroups } from '../places'
import { strings } from '../strings'
import { useNavigationCollapsed } from '../useNavigationCollapsed'
import { type Findable, findNearest, findPaths, wordsOf } from './find'

/** Something to open or to do. */
export interface Entry extends Findable {
  id: string
  Icon: ComponentType
  act: ToOptions | (() => void)
}

export interface Results {
  groups: { title: string; entries: Entry[] }[]
  isLoading: boolean
  /** Whether a list could not be loaded. */
  isIncomplete: boolean
}

const LIMIT = 6
/** Every page is listed while nothing is typed. */
const PAGE_LIMIT = 30

/** Return what the words of a query find, the group of the nearest first. Lists are loaded when this is first used. */
export function useResults(query: string, onShortcuts: () => void): Results {
  const meshes = useQuery(meshesQuery)
  const incidents = useQuery(openIncidentsQuery)
  const vms = useQuery(vmsQuery)
  const applications = useQuery(applicationsQuery)
  const curves = useQuery(curvesQuery)
  const rosters = useQueries({ queries: (meshes.data ?? []).map(({ id }) => rosterQuery(id)) })
  const pages = usePages()
  const actions = useActions(onShortcuts)
  const all = [meshes, incidents, vms, applications, curves, ...rosters]

  const lists = useMemo(
    () => ({
      vms: (vms.data ?? []).map(({ id, name, zone }): Entry => {
        return { id, name, detail: zone.name, Icon: VmsIcon, act: { to: '/vms/$vmId', params: { vmId: id } } }
      }),
      incidents: (incidents.data ?? []).map(({ id, title, severity, mesh }): Entry => {
        const detail = `${SEVERITIES[severity].word}, ${mesh.name}`
        const act: ToOptions = { to: '/incidents/$incidentId', params: { incidentId: id } }
        return { id, name: title, detail, Icon: IncidentsIcon, act }
      }),
      applications: (applications.data ?? []).map(({ id, name }): Entry => {
        const act: ToOptions = { to: '/applications/$applicationId', params: { applicationId: id } }
        return { id, name, Icon: ApplicationsIcon, act }
      }),
      curves: (curves.data ?? []).map(({ id, name }): Entry => {
        return { id, name, Icon: CurvesIcon, act: { to: '/curves/$curveId', params: { curveId: id } } }
      }),
      meshes: (meshes.data ?? []).map(({ id, name }): Entry => {
        return { id, name, Icon: MeshesIcon, act: { to: '/meshes/$meshId', params: { meshId: id } } }
      }),
    }),
    [vms.data, incidents.data, applications.data, curves.data, meshes.data],
  )

  const words = wordsOf(query)
  const paths = rosters.flatMap(({ data }, index) => {
    const mesh = meshes.data?.[index]
    if (!data || !mesh) return []
    return findPaths(data.vms, words, LIMIT).map(({ source, target, rank }) => {
      const act: ToOptions = {
        to: '/meshes/$meshId/paths/$source/$target',
        params: { meshId: mesh.id, source: source.id, target: target.id },
      }
      const name = strings.pathName(source.name, target.name)
      const id = `${mesh.id} ${source.id} ${target.id}`
      return { rank, item: { id, name, detail: mesh.name, Icon: PathIcon, act } satisfies Entry }
    })
  })

  const isAsked = words.length > 0
  const found = [
    { title: strings.openIncidents, found: findNearest(lists.incidents, words, LIMIT) },
    { title: strings.paths, found: paths.sort((a, b) => a.rank - b.rank).slice(0, LIMIT) },
    { title: strings.vms, found: isAsked ? findNearest(lists.vms, words, LIMIT) : [] },
    { title: strings.applications, found: isAsked ? findNearest(lists.applications, words, LIMIT) : [] },
    { title: strings.curves, found: isAsked ? findNearest(lists.curves, words, LIMIT) : [] },
    { title: strings.meshes, found: isAsked ? findNearest(lists.meshes, words, LIMIT) : [] },
    { title: strings.pages, found: findNearest(pages, words, PAGE_LIMIT) },
    { title: strings.actions, found: findNearest(actions, words, LIMIT) },
  ]
  return {
    groups: found
      .filter((group) => group.found.length > 0)
      .sort((a, b) => (a.found[0]?.rank ?? 0) - (b.found[0]?.rank ?? 0))
      .map(({ title, found }) => ({ title, entries: found.map(({ item }) => item) })),
    isLoading: all.some(({ isPending }) => isPending),
    isIncomplete: all.some(({ isError }) => isError),
  }
}

/** Return the pages of the navigation; the group is the detail. */
function usePages(): Entry[] {
  const mesh = useCurrentMesh()
  return placeGroups(mesh?.id).flatMap((group) =>
    group.places.map(({ name, Icon, link }) => ({ id: `page ${name}`, name, detail: group.name, Icon, act: link })),
  )
}

function useActions(onShortcuts: () => void): Entry[] {
  const isDark = useComputedColorScheme() === 'dark'
  const { setColorScheme } = useMantineColorScheme()
  const [collapsed, toggleNavigation] = useNavigationCollapsed()
  return [
    { name: strings.newAlertRule, Icon: AddIcon, act: { to: '/alert-rules/new' } satisfies ToOptions },
    { name: strings.addApplication, Icon: AddIcon, act: { to: '/applications/new' } satisfies ToOptions },
    {
      name: isDark ? strings.switchToLight : strings.switchToDark,
      Icon: isDark ? SunIcon : MoonIcon,
      act: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    {
      name: collapsed ? strings.expandNavigation : strings.collapseNavigation,
      Icon: collapsed ? ExpandIcon : CollapseIcon,
      act: toggleNavigation,
    },
    { name: strings.keyboardShortcuts, Icon: KeyboardIcon, act: onShortcuts },
  ].map((action) => ({ id: `action ${action.name}`, ...action }))
}
