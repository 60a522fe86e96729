import { Button, MultiSelect, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useCreateApplication } from '~/api/applications'
import { curvesQuery } from '~/api/curves'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import type { Mesh } from '~/api/types'
import { Problem } from '~/lib/problem'
import { NumberField } from '~/ui/NumberField'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { ActionError, Empty, Failed, Loading } from '~/ui/State'

/** An application around a root, declared in a minute; graphs and limits come by YAML or the API. */
export function NewApplicationPage() {
  const meshes = useQuery(meshesQuery)
  if (meshes.error && !meshes.data) return <Failed what="The meshes" error={meshes.error} />
  if (!meshes.data) return <Loading what="meshes" />
  if (meshes.data.length === 0) {
    return (
      <Empty
        title="There is no mesh yet"
        action={<Button renderRoot={(root) => <Link {...root} to="/onboarding" />}>New mesh</Button>}
      >
        Applications run on the VMs of a mesh, between which latency is measured.
      </Empty>
    )
  }
  return (
    <Page
      title="Declare an application"
      lead="Which VMs work together, who the others talk to, and which curve says what latency costs them."
    >
      <Form meshes={meshes.data} />
    </Page>
  )
}

function Form({ meshes }: { meshes: Mesh[] }) {
  const navigate = useNavigate()
  const create = useCreateApplication()
  const [mesh, setMesh] = useState(meshes[0]?.id ?? '')
  const [root, setRoot] = useState('')
  const [others, setOthers] = useState<string[]>([])
  const roster = useQuery(rosterQuery(mesh))
  const curves = useQuery(curvesQuery)
  const vms = roster.data?.vms ?? []
  const field = (name: string) => (create.error instanceof Problem ? create.error.field(name) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const objective = String(form.get('objective')).trim()
    create.mutate(
      {
        name: String(form.get('name')).trim(),
        mesh,
        curve: String(form.get('curve')),
        objective: objective === '' ? null : Number(objective) / 100,
        tasks: [{ vm: root, root: true }, ...others.filter((vm) => vm !== root).map((vm) => ({ vm, root: false }))],
      },
      { onSuccess: ({ id }) => void navigate({ to: '/applications/$applicationId', params: { applicationId: id } }) },
    )
  }

  return (
    <Panel>
      <form onSubmit={submit} className={pageStyles.panelForm}>
        <div className={pageStyles.form}>
          <TextInput name="name" label="Name" placeholder="cache" required maxLength={100} error={field('name')} />
          <NativeSelect
            label="Mesh"
            value={mesh}
            onChange={(event) => {
              setMesh(event.currentTarget.value)
              setRoot('')
              setOthers([])
            }}
            data={meshes.map(({ id, name }) => ({ value: id, label: name }))}
          />
          <NativeSelect
            name="curve"
            label="Curve"
            error={field('curve')}
            data={(curves.data ?? []).map(({ id, name, origin }) => ({
              value: id,
              label: origin === 'own' ? `${name} (yours)` : name,
            }))}
          />
          <NumberField
            name="objective"
            label="Objective, %"
            placeholder="none"
            min={1}
            max={100}
            step="any"
            error={field('objective')}
            w={120}
          />
        </div>
        <div className={pageStyles.form}>
          <NativeSelect
            label="Root"
            description="The VM all others talk to: server, master"
            required
            value={root}
            onChange={(event) => setRoot(event.currentTarget.value)}
            data={[{ value: '', label: 'Choose a VM' }, ...vms.map(({ id, name }) => ({ value: id, label: name }))]}
          />
          <MultiSelect
            label="Other VMs"
            description="One task on each"
            placeholder={others.length === 0 ? 'Choose VMs' : undefined}
            searchable
            value={others}
            onChange={setOthers}
            data={vms.filter(({ id }) => id !== root).map(({ id, name }) => ({ value: id, label: name }))}
            w={380}
          />
        </div>
        <ActionError error={create.error} />
        <div>
          <Button type="submit" loading={create.isPending} disabled={root === '' || others.length === 0}>
            Declare
          </Button>
        </div>
      </form>
    </Panel>
  )
}
