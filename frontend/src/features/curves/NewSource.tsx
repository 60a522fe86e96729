import { Button, MultiSelect, SegmentedControl, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { applicationsQuery } from '~/api/applications'
import { curvesQuery } from '~/api/curves'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import { useCreateMetricSource } from '~/api/metric-sources'
import { named } from '~/lib/options'
import { fieldsOf } from '~/lib/problem'
import { AuthenticationFields, authenticationIn } from '~/ui/AuthenticationFields'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { CopyText } from '~/ui/CopyText'
import { ButtonLink } from '~/ui/links'
import { NumberField } from '~/ui/NumberField'
import { pageStyles } from '~/ui/Page'
import { ActionError, Empty, Notice } from '~/ui/State'
import { useMissing } from '~/ui/useMissing'
import styles from './curves.module.css'
import { strings } from './strings'

/** Options below the field of VMs: typing narrows down the others. */
const MOST_OPTIONS = 50

/** Add a metric source: where its values come from, and the paths from clients to the server it waits for. */
export function NewSource({ curve }: { curve: string | undefined }) {
  const create = useCreateMetricSource()
  const { data: meshes } = useQuery(meshesQuery)
  const { data: curves } = useQuery(curvesQuery)
  const { data: applications } = useQuery(applicationsQuery)
  const [mesh, setMesh] = useState('')
  const chosen = mesh || meshes?.[0]?.id || ''
  const { data: roster } = useQuery({ ...rosterQuery(chosen), enabled: chosen !== '' })
  const [server, setServer] = useState<string | null>(null)
  const [clients, setClients] = useState<string[]>([])
  const [kind, setKind] = useState<'push' | 'prometheus'>('push')
  const vms = named(roster?.vms)
  const onMesh = (applications ?? []).filter((application) => application.mesh.id === chosen)
  const own = (curves ?? []).filter(({ origin }) => origin === 'own')
  const target = server ?? vms[0]?.value ?? ''
  const sources = clients.filter((id) => id !== target)
  const missing = useMissing({ clients: sources.length === 0 ? strings.chooseClients : null })
  const field = fieldsOf(create)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!missing.isComplete) return // the field says so
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    create.mutate({
      name: text('name'),
      mesh_id: chosen,
      paths: sources.map((id) => ({ source_vm_id: id, target_vm_id: target })),
      application_id: text('application') || null,
      curve_id: text('curve') || null,
      metric: text('metric') === 'duration' ? 'duration' : 'rate',
      unit: text('unit'),
      kind,
      url: kind === 'prometheus' ? text('url') : null,
      query: kind === 'prometheus' ? text('query') : null,
      authentication: kind === 'prometheus' ? (authenticationIn(form) ?? null) : null,
      refresh_hours: Number(text('refresh_hours')) || 24,
    })
  }

  if (meshes?.length === 0) {
    return (
      <Empty title={strings.noMesh} action={<ButtonLink to="/onboarding">{strings.newMesh}</ButtonLink>}>
        {strings.sourceNeedsMesh}
      </Empty>
    )
  }
  return (
    <form id="new-source" className={styles.panel} onSubmit={submit} aria-label={strings.addSource}>
      <h2>{strings.addSource}</h2>
      <div className={pageStyles.form}>
        <TextInput {...field('name')} label={strings.application} required {...longest(100)} w={260} />
        <Choice
          name="metric"
          label={strings.metricKind}
          data={{ rate: strings.metricRateOption, duration: strings.metricDurationOption }}
        />
        <TextInput name="unit" label={strings.unit} placeholder={strings.unitExample} {...longest(40)} w={140} />
        <Choice
          name="curve"
          label={strings.targetCurve}
          defaultValue={curve ?? ''}
          key={own.length}
          none={strings.newCurve}
          data={named(own)}
        />
        <NumberField name="refresh_hours" label={strings.refreshHours} min={1} max={720} defaultValue={24} w={190} />
      </div>
      <div className={pageStyles.form}>
        <Choice
          label={strings.mesh}
          data={named(meshes)}
          value={chosen}
          onChange={(value) => {
            setMesh(value)
            setServer(null)
            setClients([])
          }}
        />
        <Choice label={strings.server} data={vms} value={target} onChange={setServer} />
        <MultiSelect
          label={strings.clients}
          description={strings.clientsHint}
          data={vms.filter(({ value }) => value !== target)}
          value={sources}
          onChange={setClients}
          limit={MOST_OPTIONS}
          maxValues={20}
          searchable
          w={320}
          error={missing.at('clients') ?? field('paths').error}
        />
        <Choice
          name="application"
          label={strings.judgedApplication}
          description={strings.judgedApplicationHint}
          key={chosen}
          none={strings.noApplication}
          data={named(onMesh)}
          w={260}
          error={field('application_id').error}
        />
      </div>
      <SegmentedControl
        aria-label={strings.sourceKind}
        w="fit-content"
        data={[
          { value: 'push', label: strings.pushApi },
          { value: 'prometheus', label: strings.prometheus },
        ]}
        value={kind}
        onChange={(value) => setKind(value as typeof kind)}
      />
      {kind === 'prometheus' && (
        <div className={pageStyles.form}>
          <TextInput
            {...field('url')}
            label={strings.prometheusUrl}
            placeholder={strings.prometheusUrlExample}
            required
            w={320}
          />
          <Textarea
            {...field('query')}
            label={strings.query}
            placeholder={strings.queryExample}
            required
            autosize
            minRows={1}
            w={420}
          />
        </div>
      )}
      {kind === 'prometheus' && (
        <div className={pageStyles.form}>
          <AuthenticationFields wrong={(pointer) => field(pointer).error} />
        </div>
      )}
      <div>
        <Button type="submit" size="sm" loading={create.isPending} onClick={missing.onAttempt}>
          {strings.startLearning}
        </Button>
      </div>
      <ActionError error={create.error} />
      {create.data?.kind === 'push' && (
        <Notice tone="good" title={strings.sendValues}>
          <CopyText label={strings.pushCommand} text={pushes(create.data.id)} />
        </Notice>
      )}
    </form>
  )
}

const pushes = (id: string) =>
  `curl -H "Authorization: Bearer $KEY" --json '{"points": [{"at": "'"$(date -u +%FT%TZ)"'", "value": 1234}]}' ${window.location.origin}/v1/metric-sources/${id}/points`
