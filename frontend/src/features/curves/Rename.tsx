import { Textarea, TextInput } from '@mantine/core'
import { type FormEvent, Fragment, useRef } from 'react'
import { useUpdateCurve } from '~/api/curves'
import type { CurveDetail } from '~/api/types'
import { changedFields } from '~/lib/edited'
import { fieldsOf } from '~/lib/problem'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { longest } from '~/ui/CheckedInput'
import { Dialog } from '~/ui/Dialog'
import { FormActions } from '~/ui/FormActions'
import { useEdited } from '~/ui/useEdited'
import { strings } from './strings'

interface Props {
  curve: CurveDetail
  etag: string
  opened: boolean
  onClose: () => void
}

/** Edit name and description of a curve; its measurements stay unchanged. */
export function Rename({ curve, etag, opened, onClose }: Props) {
  return (
    <Dialog title={strings.editName(curve.name)} opened={opened} onClose={onClose}>
      <Form curve={curve} etag={etag} close={onClose} />
    </Dialog>
  )
}

const wordsOf = ({ name, unit, description }: CurveDetail) => ({ name, unit, description })

function Form({ curve, etag, close }: { curve: CurveDetail; etag: string; close: () => void }) {
  const form = useRef<HTMLFormElement>(null)
  const edited = useEdited(wordsOf(curve), etag, ({ name, unit, description }) => ({
    [strings.application]: name,
    [strings.unit]: unit,
    [strings.configuration]: description,
  }))
  const update = useUpdateCurve(curve.id, edited.version)
  const field = fieldsOf(update)

  function typed() {
    const data = new FormData(form.current ?? undefined)
    const text = (name: string) => String(data.get(name)).trim()
    return { name: text('name'), unit: text('unit'), description: text('description') }
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    update.mutate(changedFields(edited.before, typed()), { onSuccess: close })
  }

  return (
    <form onSubmit={submit} ref={form}>
      <Fragment key={edited.formKey}>
        <TextInput
          {...field('name')}
          label={strings.application}
          required
          {...longest(100)}
          defaultValue={edited.initial.name}
          data-autofocus
        />
        <TextInput
          {...field('unit')}
          label={strings.unit}
          {...longest(40)}
          defaultValue={edited.initial.unit}
          mt="sm"
        />
        <Textarea
          {...field('description')}
          label={strings.configuration}
          autosize
          minRows={2}
          {...longest(2000)}
          defaultValue={edited.initial.description}
          mt="sm"
        />
      </Fragment>
      <ChangedMeanwhile edited={edited} error={update.error} typed={typed} />
      <FormActions onCancel={close} saving={update.isPending} />
    </form>
  )
}
