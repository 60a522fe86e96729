import { Button, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { useNoteIncident } from '~/api/incidents'
import { longest } from '~/ui/CheckedInput'
import { pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import { strings } from '../strings'

/** Adds a note to the timeline. */
export function NoteForm({ incidentId }: { incidentId: string }) {
  const note = useNoteIncident(incidentId)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const element = event.currentTarget
    note.mutate(String(new FormData(element).get('note')).trim(), { onSuccess: () => element.reset() })
  }

  return (
    <form className={pageStyles.form} onSubmit={submit}>
      <TextInput name="note" label={strings.note} required withAsterisk={false} {...longest(4000)} w={420} />
      <Button type="submit" size="sm" variant="default" loading={note.isPending}>
        {strings.addNote}
      </Button>
      <ActionError error={note.error} />
    </form>
  )
}
