import { Button, MultiSelect, NativeSelect, PasswordInput, SegmentedControl, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { curvesQuery } from '~/api/curves'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import { useCreateMetricSource } from '~/api/metric-sources'
import { Problem } from '~/lib/problem'
import { CopyText } from '~/ui/CopyText'
import { NumberField } from '~/ui/NumberField'
import { pageStyles } from '~/ui/Page'
import { ActionError, Empty, Notice } from '~/ui/State'
import styles from './curves.module.css'

/** Says where an application's metric comes from and which paths it waits for: from its clients to its server. */
export function NewSource({ curve }: { curve: string | undefined }) {
  const create = useCreateMetricSource()
  const { data: meshes } = useQuery(meshesQuery)
  const { data: curves } = useQuery(curvesQuery)
  const [mesh, setMesh] = useState('')
  const chosen = mesh || meshes?.[0]?.id || ''
  const { data: roster } = useQuery({ ...rosterQuery(chosen), enabled: chosen !== '' })
  const [server, setServer] = useState<string | null>(null)
  const [clients, setClients] = useState<string[]>([])
  const [kind, setKind] = useState<'push' | 'prometheus'>('push')
  const [scheme, setScheme] = useState<Scheme>('none')
  const vms = (roster?.vms ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const own = (curves ?? []).filter(({ origin }) => origin === 'own')
  const problem = create.error instanceof Problem ? create.error : null
  const taken = problem?.code === 'metric_source_name_taken' ? problem.message : undefined

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const target = server ?? vms[0]?.value ?? ''
    create.mutate({
      name: text('name'),
      mesh_id: chosen,
      paths: clients.filter((id) => id !== target).map((id) => ({ source_vm_id: id, target_vm_id: target })),
      curve_id: text('curve') || null,
      metric: text('metric') === 'duration' ? 'duration' : 'rate',
      unit: text('unit'),
      kind,
      url: kind === 'prometheus' ? text('url') : null,
      query: kind === 'prometheus' ? text('query') : null,
      authentication: kind === 'prometheus' ? authentication(scheme, text) : null,
      refresh_hours: Number(text('refresh_hours')) || 24,
    })
  }

  if (meshes?.length === 0) {
    return (
      <Empty
        title="There is no mesh yet"
        action={<Button renderRoot={(root) => <Link {...root} to="/onboarding" />}>New mesh</Button>}
      >
        A metric is learnt from beside measured round trips: they need a mesh with the VMs your application runs on.
      </Empty>
    )
  }
  return (
    <form className={styles.panel} onSubmit={submit} aria-label="Add an application">
      <h2>Add an application</h2>
      <div className={pageStyles.form}>
        <TextInput
          name="name"
          label="Application"
          required
          maxLength={100}
          w={260}
          error={taken ?? problem?.field('name')}
        />
        <NativeSelect
          name="metric"
          label="Its metric"
          data={[
            { value: 'rate', label: 'a rate: falls with latency' },
            { value: 'duration', label: 'a duration: grows with latency' },
          ]}
        />
        <TextInput name="unit" label="Unit" placeholder="queries/s" maxLength={40} w={140} />
        <NativeSelect
          name="curve"
          label="Refreshes"
          defaultValue={curve ?? ''}
          key={own.length}
          data={[
            { value: '', label: 'a curve of its own' },
            ...own.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
        <NumberField
          name="refresh_hours"
          label="New version after, hours"
          min={1}
          max={720}
          defaultValue={24}
          w={190}
        />
      </div>
      <div className={pageStyles.form}>
        <NativeSelect
          label="Mesh"
          data={(meshes ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={chosen}
          onChange={({ currentTarget: { value } }) => {
            setMesh(value)
            setServer(null)
            setClients([])
          }}
        />
        <NativeSelect
          label="Server"
          data={vms}
          value={server ?? vms[0]?.value ?? ''}
          onChange={({ currentTarget: { value } }) => setServer(value)}
        />
        <MultiSelect
          label="Clients"
          description="Their round trips to the server are what it waits for; at most 20"
          data={vms.filter(({ value }) => value !== (server ?? vms[0]?.value))}
          value={clients}
          onChange={setClients}
          maxValues={20}
          searchable
          w={320}
          error={problem?.field('paths')}
        />
      </div>
      <SegmentedControl
        aria-label="How values come"
        w="fit-content"
        data={[
          { value: 'push', label: 'It pushes them' },
          { value: 'prometheus', label: 'From Prometheus' },
        ]}
        value={kind}
        onChange={(value) => setKind(value as typeof kind)}
      />
      {kind === 'prometheus' && (
        <div className={pageStyles.form}>
          <TextInput
            name="url"
            label="Address of its HTTP API"
            placeholder="http://prometheus.internal:9090"
            required
            w={320}
            error={problem?.field('url')}
          />
          <Textarea
            name="query"
            label="Query, one series"
            placeholder="sum(rate(orders_total[1m]))"
            required
            autosize
            minRows={1}
            w={420}
            error={problem?.field('query')}
          />
        </div>
      )}
      {kind === 'prometheus' && (
        <div className={pageStyles.form}>
          <NativeSelect
            label="Signing in"
            data={[
              { value: 'none', label: 'not needed' },
              { value: 'bearer', label: 'with a token' },
              { value: 'basic', label: 'with user and password' },
              { value: 'header', label: 'with a header' },
            ]}
            value={scheme}
            onChange={({ currentTarget: { value } }) => setScheme(value as Scheme)}
          />
          {scheme === 'basic' && <TextInput name="username" label="User" required maxLength={200} w={200} />}
          {scheme === 'header' && (
            <TextInput
              name="header"
              label="Header"
              placeholder="X-Scope-OrgID"
              required
              maxLength={100}
              w={200}
              error={problem?.field('authentication/header/name')}
            />
          )}
          {scheme !== 'none' && (
            <PasswordInput
              name="secret"
              label={SECRETS[scheme]}
              description="Kept encrypted and never shown"
              autoComplete="off"
              required
              w={300}
            />
          )}
        </div>
      )}
      <div>
        <Button type="submit" size="sm" loading={create.isPending} disabled={clients.length === 0}>
          Learn from it
        </Button>
      </div>
      <ActionError error={taken || problem?.errors.length ? null : create.error} />
      {create.data?.kind === 'push' && (
        <Notice tone="good" title="Now send values.">
          <CopyText label="Command that pushes one value" text={pushes(create.data.id)} />
        </Notice>
      )}
    </form>
  )
}

type Scheme = 'none' | 'bearer' | 'basic' | 'header'

const SECRETS = { bearer: 'Token', basic: 'Password', header: 'Its value' }

function authentication(scheme: Scheme, text: (name: string) => string) {
  if (scheme === 'bearer') return { scheme, token: text('secret') }
  if (scheme === 'basic') return { scheme, username: text('username'), password: text('secret') }
  if (scheme === 'header') return { scheme, name: text('header'), value: text('secret') }
  return null
}

const pushes = (id: string) =>
  `curl -H "Authorization: Bearer $KEY" --json '{"points": [{"at": "'"$(date -u +%FT%TZ)"'", "value": 1234}]}' ${window.location.origin}/v1/metric-sources/${id}/points`
