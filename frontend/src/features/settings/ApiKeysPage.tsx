import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { apiKeysQuery, useCreateApiKey, useDeleteApiKey } from '~/api/access'
import type { ApiKey } from '~/api/types'
import { Problem } from '~/lib/problem'
import { formatDay } from '~/lib/time'
import { Confirm } from '~/ui/Confirm'
import { CopyText } from '~/ui/CopyText'
import { useClock } from '~/ui/clock'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Failed, Loading, Notice } from '~/ui/State'

const LIVES = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
]

/** Keys for programs: the same API this page uses. */
export function ApiKeysPage() {
  const keys = useQuery(apiKeysQuery)
  const clock = useClock()
  const remove = useDeleteApiKey()
  const [deleting, setDeleting] = useState<ApiKey | null>(null)
  if (keys.error && !keys.data) {
    return <Failed what="The list of keys" error={keys.error} retry={() => void keys.refetch()} />
  }
  if (!keys.data) return <Loading what="API keys" />
  const day = (at: string) => formatDay(new Date(at), clock)
  return (
    <Page title="API keys" lead="For programs: everything on these pages comes from the same API.">
      <NewKey />
      {keys.data.length > 0 && (
        <Records
          label="API keys"
          rows={keys.data}
          id={(key) => key.id}
          columns={[
            { title: 'Name', cell: (key) => key.name, as: 'head' },
            { title: 'Begins with', cell: (key) => `${key.prefix}…` },
            { title: 'May', cell: (key) => (key.scopes.includes('write') ? 'read and write' : 'read') },
            { title: 'Made', cell: (key) => day(key.created_at) },
            { title: 'Expires', cell: (key) => day(key.expires_at) },
            {
              title: 'Actions',
              cell: (key) => (
                <RowAction label={`Delete ${key.name}`} onClick={() => setDeleting(key)}>
                  Delete
                </RowAction>
              ),
            },
          ]}
        />
      )}
      <Confirm
        title={`Delete ${deleting?.name}`}
        action="Delete"
        about={deleting?.id ?? null}
        doing={remove}
        onClose={() => setDeleting(null)}
      >
        Programs that use it are refused at once.
      </Confirm>
    </Page>
  )
}

function NewKey() {
  const create = useCreateApiKey()
  const field = (name: string) => (create.error instanceof Problem ? create.error.field(name) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const element = event.currentTarget
    const form = new FormData(element)
    create.mutate(
      {
        name: String(form.get('name')).trim(),
        scopes: form.get('scope') === 'write' ? ['read', 'write'] : ['read'],
        expires_at: new Date(Date.now() + Number(form.get('days')) * 86_400_000).toISOString(),
      },
      { onSuccess: () => element.reset() },
    )
  }

  return (
    <Panel title="New key">
      <form className={pageStyles.form} onSubmit={submit}>
        <TextInput
          name="name"
          label="Name"
          placeholder="dashboards"
          required
          withAsterisk={false}
          maxLength={100}
          error={field('name')}
          w={200}
        />
        <NativeSelect
          name="scope"
          label="May"
          data={[
            { value: 'read', label: 'read' },
            { value: 'write', label: 'read and write' },
          ]}
          defaultValue="read"
          w={150}
        />
        <NativeSelect
          name="days"
          label="Expires in"
          data={LIVES}
          defaultValue="90"
          error={field('expires_at')}
          w={120}
        />
        <Button type="submit" size="sm" loading={create.isPending}>
          Make key
        </Button>
      </form>
      <ActionError error={create.error} />
      {create.data && (
        <>
          <Notice tone="good" title={`${create.data.name} is ready.`}>
            Copy it now: it is shown this once.
          </Notice>
          <CopyText text={create.data.secret} label="API key" />
        </>
      )}
    </Panel>
  )
}
