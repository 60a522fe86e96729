import { Button, FileInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { client, post, unwrap } from '~/api/client'
import { NEW_MESH } from '~/api/meshes'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { Dialog } from '~/ui/Dialog'
import { ActionError } from '~/ui/State'
import { useMissing } from '~/ui/useMissing'
import { strings } from './strings'

type Kind = 'csv' | 'ptpd'

/** Import a trace measured elsewhere into a new mesh; a job creates its VMs and windows. */
export function ImportTrace() {
  const [opened, setOpened] = useState(false)
  const [kind, setKind] = useState<Kind>('csv')
  const [file, setFile] = useState<File | null>(null)
  const missing = useMissing({ file: file ? null : strings.chooseFile })
  const cache = useQueryClient()
  const navigate = useNavigate()
  const run = useMutation({
    mutationFn: async (form: FormData) => {
      const text = (name: string) => String(form.get(name) ?? '').trim()
      const mesh = await post('/v1/meshes', { body: { name: text('name'), window_s: 10, rate_hz: 1, ...NEW_MESH } })
      await unwrap<unknown>(
        client.POST('/v1/meshes/{mesh_id}/imports', {
          params: {
            path: { mesh_id: mesh.id },
            query: {
              kind,
              times: text('times') === 'end_now' ? 'end_now' : 'keep',
              ...(kind === 'ptpd' ? { client: text('client'), server: text('server') } : {}),
            },
          },
          body: file as unknown as string,
          bodySerializer: (body) => body as unknown as BodyInit,
          headers: { 'Content-Type': kind === 'csv' ? 'text/csv' : 'text/plain' },
        }),
      )
    },
    onSuccess: async () => {
      await cache.invalidateQueries()
      await navigate({ to: '/jobs' })
    },
  })

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!missing.isComplete) return // the field says so
    run.mutate(new FormData(event.currentTarget))
  }

  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        {strings.importTrace}
      </Button>
      <Dialog title={strings.importTrace} opened={opened} onClose={() => setOpened(false)}>
        <form onSubmit={submit}>
          <Stack gap="sm">
            <p>{strings.importLead}</p>
            <TextInput name="name" label={strings.newMeshName} required {...longest(100)} />
            <Choice
              label={strings.format}
              data={{ csv: strings.formatCsv, ptpd: strings.formatPtpd }}
              value={kind}
              onChange={(value) => setKind(value === 'ptpd' ? 'ptpd' : 'csv')}
            />
            <FileInput
              label={strings.file}
              placeholder={strings.choosePlaceholder}
              required
              value={file}
              onChange={setFile}
              error={missing.at('file')}
            />
            {kind === 'ptpd' && (
              <>
                <TextInput name="client" label={strings.clientName} required />
                <TextInput name="server" label={strings.serverName} required />
              </>
            )}
            <Choice
              name="times"
              label={strings.timestamps}
              data={{ keep: strings.unchanged, end_now: strings.timestampsMoved }}
            />
            <ActionError error={run.error} />
            <Button type="submit" loading={run.isPending} onClick={missing.onAttempt}>
              {strings.import}
            </Button>
          </Stack>
        </form>
      </Dialog>
    </>
  )
}
