import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Route, receiversQuery, routingQuery, useWriteRouting } from '~/api/receivers'
import { differences } from '~/lib/edited'
import { Panel, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Loading } from '~/ui/State'
import { strings } from '../strings'
import { BranchEditor } from './BranchEditor'
import { added, branches, NEW_BRANCH, type Place, raised, removed, replaced, takes, terms } from './routeTree'

/** The edited branch: an existing one, or a new one below a place. */
interface Writing {
  place: Place
  route: Route
  isNew: boolean
  /** When the form opened, ms: another time is another form. */
  opened: number
  /** The tree and its version when the form opened: a place has a meaning only in it. */
  read: { root: Route; etag: string }
}

const nothing = () => {}

/** Return the tree as text, by the number of the route. */
const treeLines = (root: Route) =>
  Object.fromEntries(
    branches(root).map(({ place, route }) => [
      strings.routeNumber(numberOf(place)),
      [takes(route), (route.receivers ?? []).join(', '), terms(route)].filter(Boolean).join('; '),
    ]),
  )

const numberOf = (place: Place) => place.map((at) => at + 1).join('.')

/** Return a form for the tree of somebody else: a route that is no longer at its place is added to its parent. */
function rebased(writing: Writing, read: Writing['read']): Writing {
  const at = (root: Route) =>
    JSON.stringify(branches(root).find(({ place }) => numberOf(place) === numberOf(writing.place)))
  const stays = writing.place.length === 0 || at(read.root) === at(writing.read.root)
  return stays ? { ...writing, read } : { ...writing, read, place: [], isNew: true }
}

/** The tree of routes: which receivers are notified of which incidents. */
export function Routes({ edits }: { edits: boolean }) {
  const routing = useQuery(routingQuery)
  const receivers = useQuery(receiversQuery).data ?? []
  const write = useWriteRouting()
  const [writing, setWriting] = useState<Writing | null>(null)
  if (!routing.data) {
    return (
      <Panel title={strings.routes}>
        {routing.error ? <ActionError error={routing.error} /> : <Loading what={strings.routesLower} />}
      </Panel>
    )
  }
  const { root, etag } = routing.data
  const isOutdated = writing !== null && writing.read.etag !== etag
  const rows = branches(root)
  const open = (place: Place, route: Route, isNew: boolean) =>
    setWriting({ place, route, isNew, opened: Date.now(), read: routing.data })
  const put = (changed: Route, version: string, onSuccess: () => void = nothing) =>
    write.mutate({ root: changed, etag: version }, { onSuccess })

  function save(route: Route) {
    if (!writing) return
    const { place, isNew, read } = writing
    put(isNew ? added(read.root, place, route) : replaced(read.root, place, route), read.etag, () => setWriting(null))
  }

  const actions = ({ place, route }: (typeof rows)[number]) => {
    const number = numberOf(place)
    return (
      <Group gap="sm" wrap="nowrap">
        <RowAction label={strings.editRouteNumber(number)} onClick={() => open(place, route, false)}>
          {strings.edit}
        </RowAction>
        {place.at(-1) !== 0 && (
          <RowAction label={strings.moveRouteUp(number)} onClick={() => put(raised(root, place), etag)}>
            {strings.moveUp}
          </RowAction>
        )}
        <RowAction label={strings.addNestedRouteTo(number)} onClick={() => open(place, NEW_BRANCH, true)}>
          {strings.addNestedRoute}
        </RowAction>
        <RowAction label={strings.deleteRouteNumber(number)} onClick={() => put(removed(root, place), etag)}>
          {strings.delete}
        </RowAction>
      </Group>
    )
  }

  return (
    <Panel title={strings.routes}>
      <p className={pageStyles.lead}>{rows.length === 0 ? strings.noRoutes : strings.routesLead}</p>
      <ActionError error={writing ? null : write.error} />
      {rows.length > 0 && (
        <Records
          label={strings.routes}
          rows={rows}
          id={({ place }) => place.join('.')}
          columns={[
            { title: strings.route, cell: ({ place }) => numberOf(place), as: 'head' },
            { title: strings.matches, cell: ({ route }) => takes(route), as: 'wrap' },
            {
              title: strings.receivers,
              cell: ({ route }) => (route.receivers ?? []).join(', ') || 'nobody',
              as: 'wrap',
            },
            { title: strings.options, cell: ({ route }) => terms(route), as: 'wrap' },
            ...(edits ? [{ title: strings.actions, cell: actions }] : []),
          ]}
        />
      )}
      {edits && (
        <Group>
          <RowAction label={strings.addRoute} onClick={() => open([], NEW_BRANCH, true)}>
            {strings.addRoute}
          </RowAction>
        </Group>
      )}
      <BranchEditor
        key={writing?.opened}
        branch={writing?.route ?? null}
        isNew={writing?.isNew ?? false}
        receivers={receivers.map(({ name }) => name)}
        saving={write}
        changes={isOutdated && writing ? differences(treeLines(writing.read.root), treeLines(root)) : []}
        onRead={() => setWriting((old) => old && rebased(old, routing.data))}
        onSave={save}
        onClose={() => {
          write.reset()
          setWriting(null)
        }}
      />
    </Panel>
  )
}
