import { useCreateBucketExport } from '~/api/bucketExports'
import { Problem } from '~/lib/problem'
import { ActionForm } from '~/ui/ActionForm'
import { ExportFields } from './ExportFields'
import { NEW, typedIn } from './exportForm'
import { strings } from './strings'

/** Add an export. */
export function NewExport({ onDone }: { onDone: () => void }) {
  const create = useCreateBucketExport()
  const wrong = (pointer: string) => (create.error instanceof Problem ? create.error.field(pointer) : undefined)

  function submit(form: FormData) {
    const { fields, secret } = typedIn(form)
    create.mutate({ ...fields, secret }, { onSuccess: onDone })
  }

  return (
    <ActionForm onSubmit={submit} doing={create} action={strings.add}>
      <ExportFields initial={NEW} exists={false} wrong={wrong} />
    </ActionForm>
  )
}
