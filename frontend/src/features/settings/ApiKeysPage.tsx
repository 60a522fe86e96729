import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { apiKeysQuery, useCreateApiKey, useDeleteApiKey } from '~/api/access'
import type { ApiKey } from '~/api/types'
import { idsOf } from '~/lib/inTurn'
import { Problem } from '~/lib/problem'
import { formatDay, timeOf } from '~/lib/time'
import { Confirm } from '~/ui/Confirm'
import { CopyText } from '~/ui/CopyText'
import { useClock } from '~/ui/clock'
import { NoRows, ToForm } from '~/ui/NoRows'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { RowAction } from '~/ui/Records'
import { ActionError, Failed, Notice } from '~/ui/State'
import { strings } from './strings'

const LIVES = [
  { value: '7', label: strings.sevenDays },
  { value: '30', label: strings.thirtyDays },
  { value: '90', label: strings.ninetyDays },
  { value: '365', label: strings.oneYear },
]

/** API keys: programs use the API that this page uses. */
export function ApiKeysPage() {
  const keys = useQuery(apiKeysQuery)
  const clock = useClock()
  const remove = useDeleteApiKey()
  const [deleting, setDeleting] = useState<ApiKey | null>(null)
  if (keys.error && !keys.data) {
    return <Failed what={strings.apiKeys} error={keys.error} retry={() => void keys.refetch()} />
  }
  if (!keys.data) return <LoadingPage title={strings.apiKeys} what={strings.apiKeys} />
  const day = (at: string) => formatDay(new Date(at), clock)
  return (
    <Page title={strings.apiKeys} lead={strings.apiKeysLead}>
      <NewKey />
      {keys.data.length === 0 ? (
        <NoRows next={<ToForm form="new-key">{strings.createOne}</ToForm>}>{strings.noKeys}</NoRows>
      ) : (
        <RecordList
          label={strings.apiKeys}
          rows={keys.data}
          id={(key) => key.id}
          bulk={{
            nouns: [strings.keyNoun, strings.keysNoun],
            name: ({ name }) => name,
            actions: [
              {
                label: strings.delete,
                effect: strings.deleteKeysEffect,
                run: (rows, watch) => remove.each(idsOf(rows), watch),
              },
            ],
          }}
          columns={[
            { title: strings.name, cell: (key) => key.name, as: 'head', by: { key: 'name', value: (key) => key.name } },
            { title: strings.prefix, cell: (key) => `${key.prefix}…` },
            {
              title: strings.keyScope,
              cell: (key) => (key.scopes.includes('write') ? strings.readWrite : strings.read),
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
                <RowAction label={strings.deleteName(key.name)} onClick={() => setDeleting(key)}>
                  {strings.delete}
                </RowAction>
              ),
            },
          ]}
        />
      )}
      <Confirm
        title={strings.deleteName(deleting?.name ?? '')}
        action={strings.delete}
        about={deleting?.id ?? null}
        doing={remove}
        onClose={() => setDeleting(null)}
      >
        {strings.deleteKeyEffect}
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
    <Panel id="new-key" title={strings.newKey}>
      <form className={pageStyles.form} onSubmit={submit}>
        <TextInput
          name="name"
          label={strings.name}
          placeholder={strings.keyNameExample}
          required
          withAsterisk={false}
          maxLength={100}
          error={field('name')}
          w={200}
        />
        <NativeSelect
          name="scope"
          label={strings.keyScope}
          data={[
            { value: 'read', label: strings.read },
            { value: 'write', label: strings.readWrite },
          ]}
          defaultValue="read"
          w={150}
        />
        <NativeSelect
          name="days"
          label={strings.expiresIn}
          data={LIVES}
          defaultValue="90"
          error={field('expires_at')}
          w={120}
        />
        <Button type="submit" size="sm" loading={create.isPending}>
          {strings.createKey}
        </Button>
      </form>
      <ActionError error={create.error} />
      {create.data && (
        <>
          <Notice tone="good" title={strings.keyCreated(create.data.name)}>
            {strings.copyKeyNow}
          </Notice>
          <CopyText text={create.data.secret} label={strings.apiKey} />
        </>
      )}
    </Panel>
  )
}
