import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Route, receiversQuery, routingQuery, useWriteRouting } from '~/api/receivers'
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
}

const nothing = () => {}

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
  const rows = branches(root)
  const put = (changed: Route, onSuccess: () => void = nothing) => write.mutate({ root: changed, etag }, { onSuccess })

  function save(route: Route) {
    if (!writing) return
    const { place, isNew } = writing
    put(isNew ? added(root, place, route) : replaced(root, place, route), () => setWriting(null))
  }

  const actions = ({ place, route }: (typeof rows)[number]) => {
    const number = place.map((at) => at + 1).join('.')
    return (
      <Group gap="sm" wrap="nowrap">
        <RowAction label={strings.editRouteNumber(number)} onClick={() => setWriting({ place, route, isNew: false })}>
          {strings.edit}
        </RowAction>
        {place.at(-1) !== 0 && (
          <RowAction label={strings.moveRouteUp(number)} onClick={() => put(raised(root, place))}>
            {strings.moveUp}
          </RowAction>
        )}
        <RowAction
          label={strings.addNestedRouteTo(number)}
          onClick={() => setWriting({ place, route: NEW_BRANCH, isNew: true })}
        >
          {strings.addNestedRoute}
        </RowAction>
        <RowAction label={strings.deleteRouteNumber(number)} onClick={() => put(removed(root, place))}>
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
            { title: strings.route, cell: ({ place }) => place.map((at) => at + 1).join('.'), as: 'head' },
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
          <RowAction label={strings.addRoute} onClick={() => setWriting({ place: [], route: NEW_BRANCH, isNew: true })}>
            {strings.addRoute}
          </RowAction>
        </Group>
      )}
      <BranchEditor
        key={writing ? `${writing.isNew} ${writing.place.join('.')}` : ''}
        branch={writing?.route ?? null}
        isNew={writing?.isNew ?? false}
        receivers={receivers.map(({ name }) => name)}
        saving={write}
        onSave={save}
        onClose={() => {
          write.reset()
          setWriting(null)
        }}
      />
    </Panel>
  )
}
