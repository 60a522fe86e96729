import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiKeysQuery, useDeleteApiKey, useEdits } from '~/api/access'
import type { ApiKey } from '~/api/types'
import { actOnRows } from '~/lib/inTurn'
import { formatDay, timeOf } from '~/lib/time'
import { CreateDrawer } from '~/ui/CreateDrawer'
import { useClock } from '~/ui/clock'
import { NoRows } from '~/ui/NoRows'
import { Page } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { RowAction } from '~/ui/Records'
import { Unloaded } from '~/ui/Unloaded'
import { NewKey } from './NewKey'
import { RotateKey } from './RotateKey'
import { scopesText } from './scopes'
import { strings } from './strings'

/** API keys: programs use the API that this page uses. */
export function ApiKeysPage() {
  const keys = useQuery(apiKeysQuery)
  const clock = useClock()
  const remove = useDeleteApiKey()
  const [rotating, setRotating] = useState<ApiKey | null>(null)
  const edits = useEdits()
  if (!keys.data) return <Unloaded query={keys} title={strings.apiKeys} what={strings.apiKeys} />
  const day = (at: string) => formatDay(new Date(at), clock)
  return (
    <Page
      title={strings.apiKeys}
      lead={strings.apiKeysLead}
      action={edits && <CreateDrawer label={strings.newKey}>{() => <NewKey />}</CreateDrawer>}
    >
      {keys.data.length === 0 ? (
        <NoRows>{strings.noKeys}</NoRows>
      ) : (
        <RecordList
          label={strings.apiKeys}
          rows={keys.data}
          id={(key) => key.id}
          bulk={{
            nouns: [strings.apiKey, strings.apiKeys],
            name: ({ name }) => name,
            actions: [actOnRows(strings.delete, remove, strings.deleteKeysEffect)],
          }}
          columns={[
            { title: strings.name, as: 'head', by: { key: 'name', value: (key) => key.name } },
            { title: strings.prefix, cell: (key) => `${key.prefix}…` },
            {
              title: strings.keyScope,
              cell: (key) => scopesText(key.scopes),
            },
            {
              title: strings.meshes,
              cell: (key) => key.meshes?.map(({ name }) => name).join(', ') ?? strings.every,
              as: 'wrap',
            },
            {
              title: strings.keyOwner,
              cell: (key) => key.owner?.email ?? strings.serviceAccount,
              by: { key: 'owner', value: (key) => key.owner?.email },
            },
            {
              title: strings.lastUsed,
              cell: (key) => (key.last_used_at ? day(key.last_used_at) : strings.never),
              by: { key: 'used', value: (key) => timeOf(key.last_used_at) },
            },
            {
              title: strings.created,
              cell: (key) => day(key.created_at),
              by: { key: 'created', value: (key) => timeOf(key.created_at) },
            },
            {
              title: strings.expires,
              cell: (key) => day(key.expires_at),
              by: { key: 'expires', value: (key) => timeOf(key.expires_at) },
            },
            {
              title: strings.actions,
              cell: (key) => (
                <RowAction label={strings.rotateName(key.name)} onClick={() => setRotating(key)}>
                  {strings.rotate}
                </RowAction>
              ),
            },
          ]}
        />
      )}
      <RotateKey apiKey={rotating} onClose={() => setRotating(null)} />
    </Page>
  )
}
