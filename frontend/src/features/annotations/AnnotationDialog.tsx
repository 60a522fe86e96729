import { MultiSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Annotation, useCreateAnnotation, useUpdateAnnotation } from '~/api/annotations'
import { applicationsQuery } from '~/api/applications'
import { vmsQuery, zonesQuery } from '~/api/inventory'
import { meshesQuery } from '~/api/meshes'
import { ANNOTATION_KINDS, KIND_NAMES } from '~/lib/annotations'
import { labelled, named } from '~/lib/options'
import { Problem } from '~/lib/problem'
import { typedZone } from '~/lib/time'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { useClock } from '~/ui/clock'
import { Dialog } from '~/ui/Dialog'
import { FormActions } from '~/ui/FormActions'
import { pageStyles } from '~/ui/Page'
import { useEdited } from '~/ui/useEdited'
import { useMissing } from '~/ui/useMissing'
import { type Draft, draftOf, endsTooEarly, inputOf, SCOPES, type ScopeKind } from './draft'
import { strings } from './strings'

interface Props {
  /** The annotation to change; a new one when absent. */
  annotation?: Annotation
  /** The mesh of a new annotation. */
  meshId?: string | undefined
  onClose: () => void
}

const SCOPE_NAMES: Record<ScopeKind, string> = {
  all: strings.allVms,
  vms: strings.vms,
  zones: strings.zones,
  applications: strings.applications,
}

/** Add or change an annotation. */
export function AnnotationDialog({ annotation, meshId, onClose }: Props) {
  const clock = useClock()
  const zone = typedZone(clock)
  const create = useCreateAnnotation()
  const { data: meshes } = useQuery(meshesQuery)
  const meshName = (id: string) => meshes?.find((mesh) => mesh.id === id)?.name ?? strings.allMeshes
  const edited = useEdited(draftOf(annotation, clock, meshId), String(annotation?.version ?? 0), (fields) => ({
    [strings.text]: fields.text,
    [strings.kind]: KIND_NAMES[fields.kind],
    [strings.start]: fields.starts,
    [strings.end]: fields.ends,
    [strings.mesh]: meshName(fields.meshId),
    [strings.scope]: `${SCOPE_NAMES[fields.scope]}${fields.scope === 'all' ? '' : `, ${fields.ids.length}`}`,
    [strings.source]: fields.source,
    [strings.link]: fields.url,
  }))
  const update = useUpdateAnnotation({ id: annotation?.id ?? '', version: Number(edited.version) })
  const save = annotation ? update : create
  const [draft, setDraft] = useState<Draft>(edited.initial)
  const missing = useMissing({
    ids: draft.scope !== 'all' && draft.ids.length === 0 ? strings.choose : null,
    ends: endsTooEarly(draft, clock, annotation) ? strings.endsTooEarly : null,
  })
  const set = (patch: Partial<Draft>) => setDraft((old) => ({ ...old, ...patch }))
  const wrong = (name: string) => (save.error instanceof Problem ? save.error.field(name) : undefined)
  const field = (name: 'text' | 'starts' | 'ends' | 'source' | 'url') => ({
    value: draft[name],
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) => set({ [name]: currentTarget.value }),
  })

  function submit(event: FormEvent) {
    event.preventDefault()
    if (missing.isComplete) save.mutate(inputOf(draft, clock, annotation), { onSuccess: onClose })
  }

  return (
    <Dialog title={annotation ? strings.editName(annotation.text) : strings.newAnnotation} opened onClose={onClose}>
      <form className={pageStyles.panelForm} onSubmit={submit}>
        <TextInput
          label={strings.text}
          placeholder={strings.textExample}
          required
          withAsterisk={false}
          {...longest(500)}
          data-autofocus
          error={wrong('text')}
          {...field('text')}
        />
        <Choice
          label={strings.kind}
          data={labelled(KIND_NAMES, ANNOTATION_KINDS)}
          value={draft.kind}
          onChange={(kind) => set({ kind })}
        />
        <TextInput
          type="datetime-local"
          step={1}
          label={strings.startIn(zone)}
          description={annotation ? undefined : strings.startNow}
          required={annotation !== undefined}
          withAsterisk={false}
          error={wrong('starts_at')}
          {...field('starts')}
        />
        <TextInput
          type="datetime-local"
          step={1}
          label={strings.endIn(zone)}
          description={strings.endNone}
          error={missing.at('ends') ?? wrong('ends_at')}
          {...field('ends')}
        />
        <Choice
          label={strings.mesh}
          none={strings.allMeshes}
          data={named(meshes)}
          value={draft.meshId}
          error={wrong('mesh_id')}
          onChange={(meshId) => set({ meshId })}
        />
        <Choice
          label={strings.scope}
          data={labelled(SCOPE_NAMES, SCOPES)}
          value={draft.scope}
          onChange={(scope) => set({ scope, ids: [] })}
        />
        {draft.scope !== 'all' && (
          <Ids kind={draft.scope} ids={draft.ids} error={missing.at('ids')} onChange={(ids) => set({ ids })} />
        )}
        <TextInput
          label={strings.source}
          description={strings.sourceHint}
          {...longest(100)}
          error={wrong('source')}
          {...field('source')}
        />
        <TextInput
          type="url"
          label={strings.link}
          placeholder={strings.linkExample}
          {...longest(2000)}
          error={wrong('url')}
          {...field('url')}
        />
        <ChangedMeanwhile edited={edited} error={save.error} typed={() => draft} onFilled={setDraft} />
        <FormActions onCancel={onClose} saving={save.isPending} onAttempt={missing.onAttempt} />
      </form>
    </Dialog>
  )
}

interface IdsProps {
  kind: Exclude<ScopeKind, 'all'>
  ids: string[]
  error: string | undefined
  onChange: (ids: string[]) => void
}

/** Choose VMs, zones or applications by name. */
function Ids({ kind, ids, error, onChange }: IdsProps) {
  const vms = useQuery({ ...vmsQuery, enabled: kind === 'vms' })
  const zones = useQuery({ ...zonesQuery, enabled: kind === 'zones' })
  const applications = useQuery({ ...applicationsQuery, enabled: kind === 'applications' })
  const known: readonly { id: string; name: string }[] =
    { vms: vms.data, zones: zones.data, applications: applications.data }[kind] ?? []
  return (
    <MultiSelect
      label={strings.chosen[kind]}
      data={known.map(({ id, name }) => ({ value: id, label: name }))}
      value={ids}
      error={error}
      searchable
      limit={100}
      onChange={onChange}
    />
  )
}
