import { Group } from '@mantine/core'
import { useState } from 'react'
import { type BucketExport, useDeleteBucketExport } from '~/api/bucketExports'
import { serverNow } from '~/api/connection'
import { formatShortMoment } from '~/lib/time'
import { formatCount, NO_VALUE } from '~/lib/units'
import { Confirm } from '~/ui/Confirm'
import { useClock } from '~/ui/clock'
import { Records, RowAction } from '~/ui/Records'
import { type Status, StatusMark } from '~/ui/StatusMark'
import { EditExport } from './EditExport'
import { scheduleOf } from './exportForm'
import { strings } from './strings'

interface Props {
  rows: BucketExport[]
  edits: boolean
  manages: boolean
  onTest: (row: BucketExport) => void
  onRun: (row: BucketExport) => void
}

const MARKS: Record<BucketExport['state'], Status> = {
  waiting: 'waiting',
  running: 'waiting',
  succeeded: 'good',
  failing: 'warn',
  paused: 'ended',
}

/** The exports with state, schedule and what their buckets have. */
export function ExportList({ rows, edits, manages, onTest, onRun }: Props) {
  const clock = useClock()
  const remove = useDeleteBucketExport()
  const [changing, setChanging] = useState<BucketExport | null>(null)
  const [deleting, setDeleting] = useState<BucketExport | null>(null)
  const moment = (at: string | null) => (at === null ? NO_VALUE : formatShortMoment(at, clock, serverNow()))

  const actions = (row: BucketExport) => (
    <Group gap="sm" wrap="nowrap">
      <RowAction label={strings.runName(row.name)} onClick={() => onRun(row)}>
        {strings.run}
      </RowAction>
      <RowAction label={strings.testName(row.name)} onClick={() => onTest(row)}>
        {strings.test}
      </RowAction>
      {manages && (
        <>
          <RowAction label={strings.editName(row.name)} onClick={() => setChanging(row)}>
            {strings.edit}
          </RowAction>
          <RowAction label={strings.deleteName(row.name)} onClick={() => setDeleting(row)}>
            {strings.delete}
          </RowAction>
        </>
      )}
    </Group>
  )

  return (
    <>
      <Records
        label={strings.bucketExports}
        rows={rows}
        id={({ id }) => id}
        columns={[
          { title: strings.name, cell: ({ name }) => name, as: 'head' },
          {
            title: strings.state,
            cell: ({ state }) => <StatusMark status={MARKS[state]}>{strings.states[state]}</StatusMark>,
          },
          {
            title: strings.destination,
            cell: ({ bucket, prefix }) => (prefix ? `${bucket}/${prefix}` : bucket),
            as: 'wrap',
          },
          { title: strings.schedule, cell: scheduleOf },
          { title: strings.next, cell: ({ next_at }) => moment(next_at) },
          { title: strings.last, cell: ({ succeeded_at }) => moment(succeeded_at) },
          {
            title: strings.exported,
            cell: ({ days, bytes }) =>
              days === 0 ? NO_VALUE : strings.exportedDays(formatCount(days), (bytes / 1e6).toFixed(1)),
          },
          ...(edits ? [{ title: strings.actions, cell: actions }] : []),
        ]}
      />
      <EditExport row={changing} onClose={() => setChanging(null)} />
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
