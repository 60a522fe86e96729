import { Anchor, Button, Group, TextInput } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { type FormEvent, Fragment } from 'react'
import { type AuditEntry, type AuditSelection, auditFile, auditQuery } from '~/api/audit'
import { fieldOf, momentOf } from '~/lib/moments'
import { formatMoment, typedZone } from '~/lib/time'
import { Choice } from '~/ui/Choice'
import { useClock } from '~/ui/clock'
import { DownloadMenu } from '~/ui/DownloadMenu'
import { NoRows } from '~/ui/NoRows'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Failed, Loading } from '~/ui/State'
import { changeLines } from './changes'
import { strings } from './strings'

interface Props {
  selection: AuditSelection
  onSelect: (selection: AuditSelection) => void
}

/** Entries of the audit log with a filter, and their export. */
export function AuditPage({ selection, onSelect }: Props) {
  const entries = useInfiniteQuery(auditQuery(selection))
  if (entries.error && !entries.data) {
    return <Failed what={strings.auditLog} error={entries.error} retry={() => void entries.refetch()} />
  }
  const rows = entries.data?.pages.flatMap(({ items }) => items)
  return (
    <Page
      title={strings.auditLog}
      lead={strings.lead}
      action={<DownloadMenu file={(format) => auditFile(selection, format)} without={['json', 'arrow', 'parquet']} />}
    >
      <Filter key={JSON.stringify(selection)} selection={selection} onSelect={onSelect} />
      {!rows ? (
        <Loading what={strings.auditLower} />
      ) : rows.length === 0 ? (
        <NoRows
          next={
            <Anchor component="button" inherit underline="always" onClick={() => onSelect({})}>
              {strings.reset}
            </Anchor>
          }
        >
          {strings.noEntries}
        </NoRows>
      ) : (
        <Entries rows={rows} />
      )}
      {entries.hasNextPage && (
        <Group mt="sm">
          <Button variant="default" loading={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}>
            {strings.more}
          </Button>
        </Group>
      )}
    </Page>
  )
}

function Entries({ rows }: { rows: AuditEntry[] }) {
  const clock = useClock()
  return (
    <Records
      label={strings.auditLog}
      rows={rows}
      id={(entry) => entry.id}
      columns={[
        {
          title: strings.time,
          cell: (entry) => {
            const at = new Date(entry.created_at)
            return formatMoment(at, clock)
          },
          as: 'head',
        },
        {
          title: strings.actorAndAddress,
          cell: (entry) => (
            <>
              {entry.actor_name}
              {entry.address && <div className={pageStyles.quiet}>{entry.address}</div>}
            </>
          ),
        },
        { title: strings.action, cell: (entry) => entry.action },
        { title: strings.subject, cell: (entry) => entry.subject_name, as: 'wrap' },
        {
          title: strings.changes,
          cell: (entry) => changeLines(entry).map((line) => <div key={line}>{line}</div>),
          as: 'wrap',
        },
      ]}
    />
  )
}

function Filter({ selection, onSelect }: Props) {
  const clock = useClock()
  const zone = typedZone(clock)
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim() || undefined
    const time = (name: 'since' | 'before') => momentOf(text(name) ?? '', clock, selection[name])
    onSelect({
      kind: text('kind'),
      actor: text('actor'),
      subject: text('subject'),
      address: text('address'),
      since: time('since'),
      before: time('before'),
    })
  }

  return (
    <Panel title={strings.filter}>
      <form className={pageStyles.form} onSubmit={submit}>
        <Choice
          name="kind"
          label={strings.kind}
          none={strings.anyKind}
          data={strings.kinds}
          defaultValue={selection.kind ?? ''}
          w={170}
        />
        <TextInput
          name="actor"
          label={strings.actor}
          placeholder={strings.actorExample}
          defaultValue={selection.actor ?? ''}
          w={190}
        />
        <TextInput name="subject" label={strings.subject} defaultValue={selection.subject ?? ''} w={150} />
        <TextInput
          name="address"
          label={strings.address}
          placeholder={strings.addressExample}
          defaultValue={selection.address ?? ''}
          w={140}
        />
        <Fragment key={clock}>
          <TextInput
            name="since"
            type="datetime-local"
            step={1}
            label={strings.from(zone)}
            defaultValue={fieldOf(selection.since, clock)}
          />
          <TextInput
            name="before"
            type="datetime-local"
            step={1}
            label={strings.to(zone)}
            defaultValue={fieldOf(selection.before, clock)}
          />
        </Fragment>
        <Button type="submit" size="sm">
          {strings.apply}
        </Button>
      </form>
    </Panel>
  )
}
