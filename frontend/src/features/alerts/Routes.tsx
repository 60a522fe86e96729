import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Route, receiversQuery, routingQuery, useWriteRouting } from '~/api/receivers'
import { Panel, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Loading } from '~/ui/State'
import { BranchEditor } from './BranchEditor'
import { added, branches, NEW_BRANCH, type Place, raised, removed, replaced, takes, terms } from './routeTree'

/** What is written: a branch that exists, or a new one inside a place. */
interface Writing {
  place: Place
  route: Route
  isNew: boolean
}

const nothing = () => {}

/** The branches of the tree: which receivers hear of which incidents. */
export function Routes({ edits }: { edits: boolean }) {
  const routing = useQuery(routingQuery)
  const receivers = useQuery(receiversQuery).data ?? []
  const write = useWriteRouting()
  const [writing, setWriting] = useState<Writing | null>(null)
  if (!routing.data) {
    return (
      <Panel title="Routes">{routing.error ? <ActionError error={routing.error} /> : <Loading what="routes" />}</Panel>
    )
  }
  const { root, etag } = routing.data
  const found = branches(root)
  const put = (changed: Route, onSuccess: () => void = nothing) => write.mutate({ root: changed, etag }, { onSuccess })

  function save(route: Route) {
    if (!writing) return
    const { place, isNew } = writing
    put(isNew ? added(root, place, route) : replaced(root, place, route), () => setWriting(null))
  }

  const actions = ({ place, route }: (typeof found)[number]) => {
    const number = place.map((at) => at + 1).join('.')
    return (
      <Group gap="sm" wrap="nowrap">
        <RowAction label={`Change branch ${number}`} onClick={() => setWriting({ place, route, isNew: false })}>
          Change
        </RowAction>
        {place.at(-1) !== 0 && (
          <RowAction label={`Ask branch ${number} sooner`} onClick={() => put(raised(root, place))}>
            Sooner
          </RowAction>
        )}
        <RowAction
          label={`Add a branch inside ${number}`}
          onClick={() => setWriting({ place, route: NEW_BRANCH, isNew: true })}
        >
          Add inside
        </RowAction>
        <RowAction label={`Delete branch ${number}`} onClick={() => put(removed(root, place))}>
          Delete
        </RowAction>
      </Group>
    )
  }

  return (
    <Panel title="Routes">
      <p className={pageStyles.lead}>
        {found.length === 0
          ? 'There is no branch: receivers that are told hear of every incident.'
          : 'An incident goes to the first branch that takes it; to the receivers that are told, if none does.'}
      </p>
      <ActionError error={writing ? null : write.error} />
      {found.length > 0 && (
        <Records
          label="Routes"
          rows={found}
          id={({ place }) => place.join('.')}
          columns={[
            { title: 'Branch', cell: ({ place }) => place.map((at) => at + 1).join('.'), as: 'head' },
            { title: 'Takes', cell: ({ route }) => takes(route), as: 'wrap' },
            { title: 'Tells', cell: ({ route }) => (route.receivers ?? []).join(', ') || 'nobody', as: 'wrap' },
            { title: 'Terms', cell: ({ route }) => terms(route), as: 'wrap' },
            ...(edits ? [{ title: 'Actions', cell: actions }] : []),
          ]}
        />
      )}
      {edits && (
        <Group>
          <RowAction label="Add a branch" onClick={() => setWriting({ place: [], route: NEW_BRANCH, isNew: true })}>
            Add a branch
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
