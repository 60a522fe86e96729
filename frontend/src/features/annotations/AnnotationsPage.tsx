import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useEdits } from '~/api/access'
import { type Annotation, annotationsQuery, useDeleteAnnotation } from '~/api/annotations'
import { KIND_NAMES } from '~/lib/annotations'
import { actOnRows } from '~/lib/inTurn'
import { formatMoment, timeOf } from '~/lib/time'
import { CopyText } from '~/ui/CopyText'
import { useClock } from '~/ui/clock'
import { Page, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { RowAction } from '~/ui/Records'
import { Unloaded } from '~/ui/Unloaded'
import { AnnotationDialog } from './AnnotationDialog'
import type { AnnotationsSearch } from './search'
import { strings } from './strings'

interface Props {
  search: AnnotationsSearch
  onSearch: (patch: AnnotationsSearch) => void
}

const CLOSED = { add: undefined, mesh: undefined } as never

/** Annotations, and the dialogs that add and change them. */
export function AnnotationsPage({ search, onSearch }: Props) {
  const annotations = useQuery(annotationsQuery)
  const edits = useEdits()
  if (!annotations.data) {
    const { annotations: title, annotationsLower: what } = strings
    return <Unloaded {...{ query: annotations, title, what, failed: title }} />
  }
  return (
    <Page
      title={strings.annotations}
      lead={strings.lead}
      action={edits && <Button onClick={() => onSearch({ add: true })}>{strings.add}</Button>}
    >
      {annotations.data.length === 0 ? (
        <>
          <p className={pageStyles.lead}>{edits ? strings.none : strings.noneForViewers}</p>
          {edits && <CopyText text={strings.curl(window.location.origin)} label={strings.command} />}
        </>
      ) : (
        <List annotations={annotations.data} edits={edits} />
      )}
      {edits && search.add && (
        <AnnotationDialog key={search.mesh} meshId={search.mesh} onClose={() => onSearch(CLOSED)} />
      )}
    </Page>
  )
}

/** Return the scope in words: "2 VMs, 1 zone". */
function scopeWords({ scope }: Annotation): string {
  if (!scope) return strings.allVms
  const counts = [
    [scope.vm_ids.length, strings.vm, strings.vms],
    [scope.zone_ids.length, strings.zoneNoun, strings.zonesLower],
    [scope.application_ids.length, strings.application, strings.applicationsLower],
  ] as const
  const parts = counts.flatMap(([count, one, more]) =>
    count > 0 ? [strings.counted(count, count === 1 ? one : more)] : [],
  )
  return parts.join(strings.and) || strings.deletedScope
}

function List({ annotations, edits }: { annotations: Annotation[]; edits: boolean }) {
  const clock = useClock()
  const remove = useDeleteAnnotation()
  const [editing, setEditing] = useState<Annotation | null>(null)
  const momentOf = (at: string | null) => at && formatMoment(new Date(at), clock)
  return (
    <>
      <RecordList
        label={strings.annotations}
        rows={annotations}
        id={(row) => row.id}
        bulk={
          edits && {
            nouns: [strings.annotationNoun, strings.annotationsLower],
            name: ({ text }) => text,
            actions: [actOnRows(strings.delete, remove, strings.deleteSeveralEffect)],
          }
        }
        columns={[
          {
            title: strings.text,
            cell: (row) =>
              row.url ? (
                <Anchor size="sm" href={row.url} target="_blank" rel="noreferrer">
                  {row.text}
                </Anchor>
              ) : (
                row.text
              ),
            as: 'head',
            by: { key: 'text', value: (row) => row.text },
          },
          { title: strings.kind, by: { key: 'kind', value: (row) => KIND_NAMES[row.kind], filter: true } },
          {
            title: strings.start,
            cell: (row) => momentOf(row.starts_at),
            by: { key: 'start', value: (row) => timeOf(row.starts_at) },
          },
          {
            title: strings.end,
            cell: (row) => momentOf(row.ends_at),
            by: { key: 'end', value: (row) => timeOf(row.ends_at) },
          },
          {
            title: strings.mesh,
            by: { key: 'mesh', value: (row) => row.mesh_name ?? strings.allMeshes, filter: true },
          },
          { title: strings.scope, cell: scopeWords },
          { title: strings.source, as: 'quiet', by: { key: 'source', value: (row) => row.source } },
          ...(edits
            ? [
                {
                  title: strings.actions,
                  cell: (row: Annotation) => (
                    <RowAction label={strings.editName(row.text)} onClick={() => setEditing(row)}>
                      {strings.edit}
                    </RowAction>
                  ),
                },
              ]
            : []),
        ]}
      />
      {editing && <AnnotationDialog key={editing.id} annotation={editing} onClose={() => setEditing(null)} />}
    </>
  )
}
