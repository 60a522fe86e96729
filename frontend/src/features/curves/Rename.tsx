import { Textarea, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { useUpdateCurve } from '~/api/curves'
import type { CurveDetail } from '~/api/types'
import { Problem } from '~/lib/problem'
import { Dialog } from '~/ui/Dialog'
import { FormActions } from '~/ui/FormActions'
import { ActionError } from '~/ui/State'
import { strings } from './strings'

interface Props {
  curve: CurveDetail
  etag: string
  opened: boolean
  onClose: () => void
}

/** Edit name and description of a curve; its measurements stay unchanged. */
export function Rename({ curve, etag, opened, onClose }: Props) {
  const update = useUpdateCurve(curve.id, etag)
  const problem = update.error instanceof Problem ? update.error : null
  const taken = problem?.code === 'curve_name_taken' ? problem.message : undefined

  function close() {
    update.reset()
    onClose()
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name)).trim()
    update.mutate({ name: text('name'), unit: text('unit'), description: text('description') }, { onSuccess: close })
  }

  return (
    <Dialog title={strings.editName(curve.name)} opened={opened} onClose={close}>
      <form onSubmit={submit}>
        <TextInput
          name="name"
          label={strings.application}
          required
          maxLength={100}
          defaultValue={curve.name}
          error={taken ?? problem?.field('name')}
          data-autofocus
        />
        <TextInput name="unit" label={strings.unit} maxLength={40} defaultValue={curve.unit} mt="sm" />
        <Textarea
          name="description"
          label={strings.configuration}
          autosize
          minRows={2}
          maxLength={2000}
          defaultValue={curve.description}
          mt="sm"
        />
        <ActionError error={taken || problem?.errors.length ? null : update.error} />
        <FormActions onCancel={close} saving={update.isPending} />
      </form>
    </Dialog>
  )
}
