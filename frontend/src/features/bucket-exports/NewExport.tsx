import { Button } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useCreateBucketExport } from '~/api/bucketExports'
import { Problem } from '~/lib/problem'
import { Panel, pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { ExportFields } from './ExportFields'
import { NEW, typedIn } from './exportForm'
import { strings } from './strings'

/** Add an export. The form is empty again afterwards. */
export function NewExport() {
  const create = useCreateBucketExport()
  const [added, setAdded] = useState(0)
  const wrong = (pointer: string) => (create.error instanceof Problem ? create.error.field(pointer) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const { fields, secret } = typedIn(new FormData(event.currentTarget))
    create.mutate({ ...fields, secret }, { onSuccess: () => setAdded((count) => count + 1) })
  }

  return (
    <Panel id="new-bucket-export" title={strings.newExport}>
      <form key={added} className={pageStyles.form} onSubmit={submit}>
        <ExportFields initial={NEW} exists={false} wrong={wrong} />
        <Button type="submit" size="sm" loading={create.isPending}>
          {strings.add}
        </Button>
      </form>
      <ActionError error={create.error} />
    </Panel>
  )
}
