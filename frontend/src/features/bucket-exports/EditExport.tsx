import { type FormEvent, useRef } from 'react'
import { type BucketExport, useChangeBucketExport } from '~/api/bucketExports'
import { changedFields } from '~/lib/edited'
import { Problem } from '~/lib/problem'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { Dialog } from '~/ui/Dialog'
import { FormActions } from '~/ui/FormActions'
import { pageStyles } from '~/ui/Page'
import { useEdited } from '~/ui/useEdited'
import { ExportFields } from './ExportFields'
import { describe, fieldsOf, typedIn } from './exportForm'
import { strings } from './strings'

/** Change an export. A secret that is not typed again is kept. */
export function EditExport({ row, onClose }: { row: BucketExport | null; onClose: () => void }) {
  return (
    <Dialog title={strings.editName(row?.name ?? '')} opened={row !== null} onClose={onClose}>
      {row && <Form key={row.id} row={row} close={onClose} />}
    </Dialog>
  )
}

function Form({ row, close }: { row: BucketExport; close: () => void }) {
  const change = useChangeBucketExport()
  const form = useRef<HTMLFormElement>(null)
  const edited = useEdited(fieldsOf(row), String(row.version), describe)
  const wrong = (pointer: string) => (change.error instanceof Problem ? change.error.field(pointer) : undefined)
  const typed = () => typedIn(new FormData(form.current ?? undefined))

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const { fields, secret } = typed()
    const changes = { ...changedFields(edited.before, fields), ...(secret && { secret }) }
    change.mutate({ id: row.id, version: edited.version, changes }, { onSuccess: close })
  }

  return (
    <form className={pageStyles.panelForm} onSubmit={submit} ref={form}>
      <p className={pageStyles.lead}>{strings.movedHelp}</p>
      <ExportFields key={edited.formKey} initial={edited.initial} exists wrong={wrong} />
      <ChangedMeanwhile
        changes={edited.changes}
        error={change.error}
        onKeep={() => edited.keep(typed().fields)}
        onTake={edited.take}
      />
      <FormActions onCancel={close} saving={change.isPending} />
    </form>
  )
}
