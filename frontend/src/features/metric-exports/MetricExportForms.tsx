import { Checkbox, Group, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useRef } from 'react'
import { meshesQuery } from '~/api/meshes'
import { type MetricExport, useChangeMetricExport, useCreateMetricExport } from '~/api/metricExports'
import { changedFields } from '~/lib/edited'
import { fieldsOf as namedFields } from '~/lib/problem'
import { ActionForm } from '~/ui/ActionForm'
import { AuthenticationFields, authenticationIn } from '~/ui/AuthenticationFields'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { longest } from '~/ui/CheckedInput'
import { FormActions } from '~/ui/FormActions'
import { pageStyles } from '~/ui/Page'
import { useEdited } from '~/ui/useEdited'
import { describe, type Fields, fieldsOf, linesOf, NEW, typedIn } from './metricExportForm'
import { strings } from './strings'

const PROTOCOLS = Object.entries(strings.protocols).map(([value, label]) => ({ value, label }))

/** Add a metric export. */
export function NewMetricExport({ onDone }: { onDone: () => void }) {
  const create = useCreateMetricExport()

  function submit(form: FormData) {
    const authentication = authenticationIn(form) ?? null
    create.mutate({ ...typedIn(form, NEW), authentication }, { onSuccess: onDone })
  }

  return (
    <ActionForm onSubmit={submit} doing={create} action={strings.add}>
      <ExportFields initial={NEW} error={create.error} />
    </ActionForm>
  )
}

/** Change a metric export. Credentials that are not typed again are kept. */
export function EditMetricExport({ row, close }: { row: MetricExport; close: () => void }) {
  const change = useChangeMetricExport()
  const form = useRef<HTMLFormElement>(null)
  const edited = useEdited(fieldsOf(row), String(row.version), describe)
  const data = () => new FormData(form.current ?? undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const authentication = authenticationIn(data())
    const typed = changedFields(edited.before, typedIn(data(), edited.before))
    const changes = { ...typed, ...(authentication !== undefined && { authentication }) }
    change.mutate({ id: row.id, version: edited.version, changes }, { onSuccess: close })
  }

  return (
    <form className={pageStyles.panelForm} onSubmit={submit} ref={form}>
      <ExportFields key={edited.formKey} initial={edited.initial} error={change.error} exists={row} />
      <ChangedMeanwhile edited={edited} error={change.error} typed={() => typedIn(data(), edited.before)} />
      <FormActions onCancel={close} saving={change.isPending} />
    </form>
  )
}

interface Props {
  initial: Fields
  error: unknown
  exists?: MetricExport
}

function ExportFields({ initial, error, exists }: Props) {
  const { data: meshes } = useQuery(meshesQuery)
  const field = namedFields({ error })
  return (
    <>
      <TextInput
        {...field('name')}
        label={strings.name}
        placeholder={strings.nameExample}
        defaultValue={initial.name}
        required
        withAsterisk={false}
        {...longest(100)}
        w={200}
      />
      <NativeSelect name="kind" label={strings.protocol} data={PROTOCOLS} defaultValue={initial.kind} w={260} />
      <TextInput
        {...field('url')}
        type="url"
        label={strings.url}
        placeholder={strings.urlExample}
        defaultValue={initial.url}
        required
        withAsterisk={false}
        {...longest(500)}
        w="100%"
      />
      <AuthenticationFields
        kept={exists && strings.kept(strings.authentications[exists.authentication ?? 'none'])}
        wrong={(pointer) => field(pointer).error}
      />
      <Textarea
        {...field('headers')}
        label={strings.headers}
        description={strings.headersHelp}
        placeholder={strings.headersExample}
        defaultValue={linesOf(initial.headers)}
        autosize
        w="100%"
      />
      <Checkbox.Group
        label={strings.pathsOf}
        defaultValue={initial.paths.map(({ mesh_id }) => mesh_id)}
        error={field('paths').error}
        w="100%"
      >
        <Group gap="md" mt="xs">
          {meshes?.map(({ id, name }) => (
            <Checkbox key={id} name="meshes" value={id} label={name} />
          ))}
        </Group>
      </Checkbox.Group>
      {exists && <Checkbox name="paused" defaultChecked={initial.paused} label={strings.paused} />}
    </>
  )
}
