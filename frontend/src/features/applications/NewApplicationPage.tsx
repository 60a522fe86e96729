import { Button, MultiSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useCreateApplication } from '~/api/applications'
import { curvesQuery } from '~/api/curves'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import type { Mesh } from '~/api/types'
import { named } from '~/lib/options'
import { fieldsOf } from '~/lib/problem'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { ButtonLink, WordLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { NumberField } from '~/ui/NumberField'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { ActionError, Empty, Failed } from '~/ui/State'
import { Term } from '~/ui/Term'
import { useMissing } from '~/ui/useMissing'
import { strings } from './strings'

/** Add an application around a root; graphs and constraints are declared by YAML or the API. */
export function NewApplicationPage() {
  const meshes = useQuery(meshesQuery)
  if (meshes.error && !meshes.data) return <Failed what={strings.meshes} error={meshes.error} />
  if (!meshes.data) return <LoadingPage title={strings.addApplication} what={strings.meshesLower} />
  if (meshes.data.length === 0) {
    return (
      <Empty title={strings.noMesh} action={<ButtonLink to="/onboarding">{strings.newMesh}</ButtonLink>}>
        {strings.applicationNeedsMesh}
      </Empty>
    )
  }
  return (
    <Page title={strings.addApplication} lead={strings.addApplicationLead}>
      <Form meshes={meshes.data} />
    </Page>
  )
}

/** Options below the field of VMs: typing narrows down the others. */
const MOST_OPTIONS = 50

function Form({ meshes }: { meshes: Mesh[] }) {
  const navigate = useNavigate()
  const create = useCreateApplication()
  const [mesh, setMesh] = useState(meshes[0]?.id ?? '')
  const [root, setRoot] = useState('')
  const [others, setOthers] = useState<string[]>([])
  const roster = useQuery(rosterQuery(mesh))
  const curves = useQuery(curvesQuery)
  const vms = roster.data?.vms ?? []
  const clients = others.filter((vm) => vm !== root)
  const missing = useMissing({ clients: clients.length === 0 ? strings.chooseClients : null })
  const field = fieldsOf(create)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!missing.isComplete) return // the field says so
    const form = new FormData(event.currentTarget)
    const objective = String(form.get('objective')).trim()
    create.mutate(
      {
        name: String(form.get('name')).trim(),
        mesh,
        curve: String(form.get('curve')),
        objective: objective === '' ? null : Number(objective) / 100,
        tasks: [{ vm: root, root: true }, ...clients.map((vm) => ({ vm, root: false }))],
      },
      { onSuccess: ({ id }) => void navigate({ to: '/applications/$applicationId', params: { applicationId: id } }) },
    )
  }

  return (
    <Panel>
      <form onSubmit={submit} className={pageStyles.panelForm}>
        <div className={pageStyles.form}>
          <TextInput
            {...field('name')}
            label={strings.name}
            placeholder={strings.nameExample}
            required
            {...longest(100)}
          />
          <Choice
            label={strings.mesh}
            value={mesh}
            onChange={(value) => {
              setMesh(value)
              setRoot('')
              setOthers([])
            }}
            data={named(meshes)}
          />
          <Choice
            {...field('curve')}
            label={<Term of="performance curve">{strings.curve}</Term>}
            data={(curves.data ?? []).map(({ id, name, origin }) => ({
              value: id,
              label: origin === 'own' ? strings.ownCurve(name) : name,
            }))}
          />
          <NumberField
            {...field('objective')}
            label={<Term of="objective">{strings.objectivePercent}</Term>}
            placeholder={strings.none}
            min={1}
            max={100}
            step="any"
            w={120}
          />
        </div>
        <div className={pageStyles.form}>
          <Choice
            label={<Term of="root">{strings.serverRoot}</Term>}
            description={strings.serverRootHint}
            required
            value={root}
            onChange={setRoot}
            none={strings.chooseVm}
            data={named(vms)}
          />
          <MultiSelect
            label={strings.otherVms}
            description={strings.oneTaskEach}
            placeholder={clients.length === 0 ? strings.chooseVms : undefined}
            searchable
            limit={MOST_OPTIONS}
            nothingFoundMessage={strings.noSuchVm}
            value={clients}
            onChange={setOthers}
            data={named(vms.filter(({ id }) => id !== root))}
            error={missing.at('clients') ?? field('tasks').error}
            w={380}
          />
        </div>
        {roster.data?.vms.length === 0 && (
          <NoRows
            next={
              <WordLink to="/onboarding" search={{ mesh }}>
                {strings.addVm}
              </WordLink>
            }
          >
            {strings.meshWithoutVm}
          </NoRows>
        )}
        <ActionError error={create.error ?? (roster.data ? null : roster.error)} />
        <div>
          <Button type="submit" loading={create.isPending} onClick={missing.onAttempt}>
            {strings.addApplication}
          </Button>
        </div>
      </form>
    </Panel>
  )
}
