import { Button, MultiSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { trafficQuery, useAcceptProposals, useCreateApplication } from '~/api/applications'
import { curvesQuery } from '~/api/curves'
import { meshesQuery, rosterQuery } from '~/api/meshes'
import type { Mesh, TrafficProposal } from '~/api/types'
import { named } from '~/lib/options'
import { fieldsOf } from '~/lib/problem'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { ButtonLink, WordLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { NumberField } from '~/ui/NumberField'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { ActionError, Empty, Failed, Notice } from '~/ui/State'
import { Term } from '~/ui/Term'
import { useMissing } from '~/ui/useMissing'
import { strings } from './strings'
import { strings as trafficStrings } from './trafficStrings'

interface Props {
  /** The mesh of an application from traffic. */
  mesh?: string | undefined
  /** Keys of the proposals from traffic that it is made of. */
  proposals?: readonly string[]
}

/** Add an application around a root, or one from traffic; other graphs and constraints are declared by YAML or the API. */
export function NewApplicationPage({ mesh, proposals = [] }: Props) {
  const meshes = useQuery(meshesQuery)
  const traffic = useQuery({ ...trafficQuery(mesh ?? ''), enabled: proposals.length > 0, refetchInterval: false })
  if (meshes.error && !meshes.data) return <Failed what={strings.meshes} error={meshes.error} />
  if (!meshes.data) return <LoadingPage title={strings.addApplication} what={strings.meshesLower} />
  if (meshes.data.length === 0) {
    return (
      <Empty title={strings.noMesh} action={<ButtonLink to="/onboarding">{strings.newMesh}</ButtonLink>}>
        {strings.applicationNeedsMesh}
      </Empty>
    )
  }
  const found = traffic.data?.items.filter(({ key }) => proposals.includes(key)) ?? []
  return (
    <Page title={strings.addApplication} lead={strings.addApplicationLead}>
      {proposals.length === 0 ? (
        <Form meshes={meshes.data} />
      ) : (
        <QueryResult query={traffic} what={trafficStrings.lower}>
          {() =>
            found.length === 0 ? (
              <Notice tone="warn">{trafficStrings.noProposal}</Notice>
            ) : (
              <Form meshes={meshes.data.filter(({ id }) => id === mesh)} found={found} />
            )
          }
        </QueryResult>
      )}
    </Page>
  )
}

const vmsOf = (found: readonly TrafficProposal[]) =>
  new Set(found.flatMap(({ servers, clients }) => [...servers, ...clients].map(({ id }) => id))).size

/** Options below the field of VMs: typing narrows down the others. */
const MOST_OPTIONS = 50

function Form({ meshes, found = [] }: { meshes: Mesh[]; found?: TrafficProposal[] }) {
  const navigate = useNavigate()
  const [mesh, setMesh] = useState(meshes[0]?.id ?? '')
  const create = useCreateApplication()
  const accept = useAcceptProposals(mesh)
  const [first] = found
  const star = found.length === 1 && first?.shape === 'star' ? first : undefined
  const [root, setRoot] = useState(star?.servers[0]?.id ?? '')
  const [others, setOthers] = useState<string[]>(star?.clients.map(({ id }) => id) ?? [])
  const [edited, setEdited] = useState(false)
  const roster = useQuery(rosterQuery(mesh))
  const curves = useQuery(curvesQuery)
  const vms = roster.data?.vms ?? []
  const clients = others.filter((vm) => vm !== root)
  const ofGraph = first !== undefined && !star
  const missing = useMissing({ clients: clients.length === 0 && !ofGraph ? strings.chooseClients : null })
  const action = first ? accept : create
  const field = fieldsOf(action)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!missing.isComplete) return // the field says so
    const form = new FormData(event.currentTarget)
    const objective = String(form.get('objective')).trim()
    const input = {
      name: String(form.get('name')).trim(),
      curve: String(form.get('curve')),
      objective: objective === '' ? null : Number(objective) / 100,
    }
    const tasks = [{ vm: root, root: true }, ...clients.map((vm) => ({ vm, root: false }))]
    const open = {
      onSuccess: ({ id }: { id: string }) =>
        void navigate({ to: '/applications/$applicationId', params: { applicationId: id } }),
    }
    if (first) accept.mutate({ ...input, proposals: found.map(({ key }) => key), ...(edited && { tasks }) }, open)
    else create.mutate({ ...input, mesh, tasks }, open)
  }

  return (
    <Panel>
      <form onSubmit={submit} className={pageStyles.panelForm}>
        <div className={pageStyles.form}>
          <TextInput
            {...field('name')}
            label={strings.name}
            placeholder={strings.nameExample}
            defaultValue={first?.name}
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
            key={curves.data ? 'all' : 'none'}
            defaultValue={first?.curve ?? undefined}
            {...(first && !first.curve && { none: trafficStrings.chooseCurve, required: true })}
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
        {first && (
          <p className={pageStyles.lead}>
            {star ? trafficStrings.followsUnedited : trafficStrings.follows(vmsOf(found))}
          </p>
        )}
        {!ofGraph && (
          <div className={pageStyles.form}>
            <Choice
              label={<Term of="root">{strings.serverRoot}</Term>}
              description={strings.serverRootHint}
              required
              value={root}
              onChange={(vm) => {
                setRoot(vm)
                setEdited(true)
              }}
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
              onChange={(vms) => {
                setOthers(vms)
                setEdited(true)
              }}
              data={named(vms.filter(({ id }) => id !== root))}
              error={missing.at('clients') ?? field('tasks').error}
              w={380}
            />
          </div>
        )}
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
        <ActionError error={action.error ?? (roster.data ? null : roster.error)} />
        <div>
          <Button type="submit" loading={action.isPending} onClick={missing.onAttempt}>
            {strings.addApplication}
          </Button>
        </div>
      </form>
    </Panel>
  )
}
