import { useQueries, useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useMemo } from 'react'
import { applicationsQuery } from '~/api/applications'
import { curvesQuery } from '~/api/curves'
import { openIncidentsQuery } from '~/api/incidents'
import { vmsQuery } from '~/api/inventory'
import { useHasRoute } from '~/api/labs'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import { savedViewsQuery } from '~/api/savedViews'
import { useCurrentMesh } from '../MeshPicker'
import { strings } from '../strings'
import {
  applicationEntry,
  curveEntry,
  type Entry,
  incidentEntry,
  meshEntry,
  pageEntries,
  pathEntries,
  viewEntry,
  vmEntry,
} from './entries'
import { findNearest, wordsOf } from './find'
import { useActions } from './useActions'

export interface Results {
  groups: { title: string; entries: Entry[] }[]
  isLoading: boolean
  /** A list could not be loaded. */
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
  const views = useQuery(savedViewsQuery)
  const rosters = useQueries({ queries: (meshes.data ?? []).map(({ id }) => rosterQuery(id)) })
  const lists = [meshes, incidents, vms, applications, curves, views, ...rosters]

  const mesh = useCurrentMesh()
  const { history } = useRouter()
  // As it was saved: without the time of the open page, which links take along.
  const open = (address: string) => history.push(address)
  const hasRoute = useHasRoute()
  const actions = useActions(mesh?.id, onShortcuts)
  const vmEntries = useMemo(() => (vms.data ?? []).map(vmEntry), [vms.data])

  const words = wordsOf(query)
  const find = (entries: readonly Entry[], limit = LIMIT) => findNearest(entries, words, limit)
  /** Lists of what a tenant has are long: they wait for a word. */
  const findAsked = (entries: readonly Entry[]) => (words.length > 0 ? find(entries) : [])
  const paths = rosters.flatMap(({ data }, index) => {
    const of = meshes.data?.[index]
    return data && of ? pathEntries(of, data, words, LIMIT) : []
  })
  const groups = [
    { title: strings.openIncidents, found: find((incidents.data ?? []).map(incidentEntry)) },
    { title: strings.savedViews, found: find((views.data ?? []).map((view) => viewEntry(view, open))) },
    { title: strings.paths, found: paths.sort((a, b) => a.rank - b.rank).slice(0, LIMIT) },
    { title: strings.vms, found: findAsked(vmEntries) },
    { title: strings.applications, found: findAsked((applications.data ?? []).map(applicationEntry)) },
    { title: strings.curves, found: findAsked((curves.data ?? []).map(curveEntry)) },
    { title: strings.meshes, found: findAsked((meshes.data ?? []).map(meshEntry)) },
    { title: strings.pages, found: find(pageEntries(mesh?.id, hasRoute), PAGE_LIMIT) },
    { title: strings.actions, found: find(actions) },
  ]
  return {
    groups: groups
      .filter(({ found }) => found.length > 0)
      .sort((a, b) => (a.found[0]?.rank ?? 0) - (b.found[0]?.rank ?? 0))
      .map(({ title, found }) => ({ title, entries: found.map(({ item }) => item) })),
    isLoading: lists.some(({ isPending }) => isPending),
    isIncomplete: lists.some(({ isError }) => isError),
  }
}
