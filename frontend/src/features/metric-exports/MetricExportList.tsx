import { Group } from '@mantine/core'
import { useState } from 'react'
import { serverNow } from '~/api/connection'
import { type MetricExport, useDeleteMetricExport, useTestMetricExport } from '~/api/metricExports'
import { formatMoment, formatShortMoment } from '~/lib/time'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { Dialog } from '~/ui/Dialog'
import { NoRows } from '~/ui/NoRows'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Notice } from '~/ui/State'
import { type Status, StatusMark } from '~/ui/StatusMark'
import { EditMetricExport } from './MetricExportForms'
import { strings } from './strings'

interface Props {
  rows: MetricExport[]
  edits: boolean
  manages: boolean
}

const MARKS: Record<MetricExport['state'], Status> = {
  waiting: 'waiting',
  sending: 'good',
  failing: 'warn',
  paused: 'ended',
}

/** The metric exports with state, what they sent, and what was left out. */
export function MetricExportList({ rows, edits, manages }: Props) {
  const clock = useClock()
  const test = useTestMetricExport()
  const remove = useDeleteMetricExport()
  const [changing, setChanging] = useState<MetricExport | null>(null)
  const [deleting, setDeleting] = useState<MetricExport | null>(null)
  const moment = (at: string | null) => (at === null ? NO_VALUE : formatShortMoment(at, clock, serverNow()))
  const row = rows.find(({ id }) => id === changing?.id) ?? changing

  const actions = (one: MetricExport) => (
    <Group gap="sm" wrap="nowrap">
      <RowAction label={strings.testName(one.name)} onClick={() => test.mutate(one)}>
        {strings.test}
      </RowAction>
      {manages && (
        <>
          <RowAction label={strings.editName(one.name)} onClick={() => setChanging(one)}>
            {strings.edit}
          </RowAction>
          <RowAction label={strings.deleteName(one.name)} onClick={() => setDeleting(one)}>
            {strings.delete}
          </RowAction>
        </>
      )}
    </Group>
  )

  return (
    <>
      {rows
        .filter(({ state }) => state === 'failing')
        .map((one) => (
          <Notice key={one.id} tone="bad" title={strings.failing(one.name, one.failures)}>
            {one.error} {one.next_at && strings.retries(formatMoment(new Date(one.next_at), clock))}
          </Notice>
        ))}
      <ActionError error={test.error} />
      {test.data && (
        <Notice
          tone={test.data.error === null ? 'good' : 'bad'}
          title={(test.data.error === null ? strings.serverTakes : strings.serverRefuses)(test.data.name)}
        >
          {test.data.error}
        </Notice>
      )}
      {rows.length === 0 ? (
        <NoRows next={manages || strings.adminOnly}>{strings.noExports}</NoRows>
      ) : (
        <Records
          label={strings.metricExports}
          rows={rows}
          id={({ id }) => id}
          columns={[
            { title: strings.name, cell: ({ name }) => name, as: 'head' },
            {
              title: strings.state,
              cell: ({ state }) => <StatusMark status={MARKS[state]}>{strings.states[state]}</StatusMark>,
            },
            { title: strings.protocol, cell: ({ kind }) => strings.protocols[kind] },
            { title: strings.url, cell: ({ url }) => url, as: 'wrap' },
            { title: strings.lastSent, cell: ({ succeeded_at }) => moment(succeeded_at) },
            { title: strings.valuesSent, cell: ({ samples }) => formatCount(samples), as: 'number' },
            {
              title: strings.leftOut,
              cell: ({ left_out_from, left_out_until }) =>
                left_out_from === null ? NO_VALUE : strings.fromTo(moment(left_out_from), moment(left_out_until)),
            },
            ...(edits ? [{ title: strings.actions, cell: actions }] : []),
          ]}
        />
      )}
      <Dialog title={strings.editName(row?.name ?? '')} opened={changing !== null} onClose={() => setChanging(null)}>
        {row && changing && <EditMetricExport key={row.id} row={row} close={() => setChanging(null)} />}
      </Dialog>
      <Confirm
        title={strings.deleteName(deleting?.name ?? '')}
        action={strings.delete}
        about={deleting?.id ?? null}
        doing={remove}
        onClose={() => setDeleting(null)}
      >
        {strings.deleteEffect}
      </Confirm>
    </>
  )
}
