import { Button } from '@mantine/core'
import type { FormEvent } from 'react'
import { useCreateBucketExport } from '~/api/bucketExports'
import { Problem } from '~/lib/problem'
import { pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { ExportFields } from './ExportFields'
import { NEW, typedIn } from './exportForm'
import { strings } from './strings'

/** Add an export. */
export function NewExport({ onDone }: { onDone: () => void }) {
  const create = useCreateBucketExport()
  const wrong = (pointer: string) => (create.error instanceof Problem ? create.error.field(pointer) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const { fields, secret } = typedIn(new FormData(event.currentTarget))
    create.mutate({ ...fields, secret }, { onSuccess: onDone })
  }

  return (
    <>
      <form className={pageStyles.form} onSubmit={submit}>
        <ExportFields initial={NEW} exists={false} wrong={wrong} />
        <Button type="submit" size="sm" loading={create.isPending}>
          {strings.add}
        </Button>
      </form>
      <ActionError error={create.error} />
    </>
  )
}
