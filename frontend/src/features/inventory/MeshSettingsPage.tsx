import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, Fragment, type ReactNode, useRef } from 'react'
import { useEdits } from '~/api/access'
import { EditorsOnly } from '~/api/EditorsOnly'
import { vmsQuery } from '~/api/inventory'
import { type MeshInput, rosterQuery, useAddVm, useDeleteMesh, useRemoveVm, useUpdateMesh } from '~/api/meshes'
import type { Mesh, Roster } from '~/api/types'
import { changedFields } from '~/lib/edited'
import { actOnRows } from '~/lib/inTurn'
import { Problem } from '~/lib/problem'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { DeleteButton } from '~/ui/DeleteButton'
import { TextLink, WordLink } from '~/ui/links'
import { MeshFields, meshOf } from '~/ui/MeshFields'
import { NumberField, numberOf } from '~/ui/NumberField'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { RowAction } from '~/ui/Records'
import { ActionError, Failed, Loading, Notice } from '~/ui/State'
import { strings as shared } from '~/ui/strings'
import { useEdited } from '~/ui/useEdited'
import { VmToAdd } from '~/ui/VmToAdd'
import { strings } from './strings'

type RosterVm = Roster['vms'][number]

/** The probing settings and members of a mesh; `children` stand between them. */
export function MeshSettingsPage({ mesh, etag, children }: { mesh: Mesh; etag: string; children?: ReactNode }) {
  const edited = useEdited(measurementOf(mesh), etag, measurementLines)
  const update = useUpdateMesh(mesh.id, edited.version)
  const form = useRef<HTMLFormElement>(null)
  const field = (name: string) => (update.error instanceof Problem ? update.error.field(name) : undefined)

  const typed = () => typedIn(form.current as HTMLFormElement)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const fields = typedIn(event.currentTarget)
    update.mutate(changedFields(edited.before, fields), { onSuccess: () => edited.saved(fields) })
  }

  return (
    <Page
      title={strings.settingsOf(mesh.name)}
      lead={
        <TextLink to="/meshes/$meshId" params={{ meshId: mesh.id }}>
          {strings.backToHeatmap}
        </TextLink>
      }
    >
      <Panel title={strings.measurement}>
        <form className={pageStyles.form} onSubmit={submit} ref={form}>
          <Fragment key={edited.formKey}>
            <MeshFields
              name={edited.initial.name}
              windowS={edited.initial.window_s}
              rateHz={edited.initial.rate_hz}
              problem={field}
            />
            <EvidenceFields mesh={edited.initial} problem={field} />
            <NumberField
              name="remove_gone_after_min"
              label={strings.removeGoneAfter}
              description={strings.removeGoneAfterMeaning}
              placeholder={shared.never}
              min={5}
              max={43_200}
              step="any"
              defaultValue={minutesOf(edited.initial.remove_gone_after_s)}
              error={field('remove_gone_after_s')}
              w={220}
            />
          </Fragment>
          <EditorsOnly>
            <Button type="submit" size="sm" loading={update.isPending}>
              {strings.save}
            </Button>
          </EditorsOnly>
        </form>
        {update.isSuccess && <Notice tone="good">{strings.saved}</Notice>}
        <ChangedMeanwhile edited={edited} error={update.error} typed={typed} />
      </Panel>
      {children}
      <Members mesh={mesh} />
    </Page>
  )
}

/** From when agents keep a delay as evidence, and count an exchange as lost. */
function EvidenceFields({ mesh, problem }: { mesh: Measurement; problem: (name: string) => string | undefined }) {
  return (
    <>
      <NumberField
        name="spike_threshold_us"
        label={strings.spikeThreshold}
        description={strings.spikeThresholdMeaning}
        min={10}
        max={1_000_000}
        step="any"
        required
        withAsterisk={false}
        defaultValue={mesh.spike_threshold_ns / 1_000}
        error={problem('spike_threshold_ns')}
        w={220}
      />
      <NumberField
        name="loss_deadline_ms"
        label={strings.lossDeadline}
        description={strings.lossDeadlineMeaning}
        min={100}
        max={2_000}
        required
        withAsterisk={false}
        defaultValue={mesh.loss_deadline_ms}
        error={problem('loss_deadline_ms')}
        w={220}
      />
    </>
  )
}

type Measurement = ReturnType<typeof measurementOf>

/** The settings that the form edits. */
const measurementOf = (mesh: Mesh) => ({
  name: mesh.name,
  window_s: mesh.window_s,
  rate_hz: mesh.rate_hz as MeshInput['rate_hz'],
  spike_threshold_ns: mesh.spike_threshold_ns,
  loss_deadline_ms: mesh.loss_deadline_ms,
  remove_gone_after_s: mesh.remove_gone_after_s ?? null,
})

const minutesOf = (seconds: number | null) => (seconds === null ? '' : String(seconds / 60))

const measurementLines = (mesh: Measurement) => ({
  [strings.name]: mesh.name,
  [shared.windowSeconds]: String(mesh.window_s),
  [shared.exchangesPerSecond]: String(mesh.rate_hz),
  [strings.spikeThreshold]: String(mesh.spike_threshold_ns / 1_000),
  [strings.lossDeadline]: String(mesh.loss_deadline_ms),
  [strings.removeGoneAfter]: minutesOf(mesh.remove_gone_after_s) || shared.never,
})

const typedIn = (form: HTMLFormElement): Measurement => ({ ...meshOf(form), ...restOf(form) })

function restOf(form: HTMLFormElement) {
  const data = new FormData(form)
  const minutes = numberOf(String(data.get('remove_gone_after_min')))
  return {
    spike_threshold_ns: Math.round(Number(data.get('spike_threshold_us')) * 1_000),
    loss_deadline_ms: Number(data.get('loss_deadline_ms')),
    remove_gone_after_s: Number.isNaN(minutes) ? null : Math.round(minutes * 60),
  }
}

/** The members of a mesh and its deletion; a mesh can be deleted although its members cannot be read. */
function Members({ mesh }: { mesh: Mesh }) {
  const { data: roster, error, refetch } = useQuery(rosterQuery(mesh.id))
  if (!roster && !error) return <Loading what={strings.membersLower} />
  return (
    <>
      {roster ? (
        <MemberList mesh={mesh} roster={roster} />
      ) : (
        <Failed what={strings.membersLower} error={error} retry={() => void refetch()} />
      )}
      <EditorsOnly>
        <DeleteMesh mesh={mesh} />
      </EditorsOnly>
    </>
  )
}

function MemberList({ mesh, roster }: { mesh: Mesh; roster: Roster }) {
  const { data: vms, error: failed } = useQuery(vmsQuery)
  const edits = useEdits()
  const add = useAddVm(mesh.id)
  const remove = useRemoveVm(mesh.id)
  const members = new Set(roster.vms.map(({ id }) => id))
  const others = vms?.filter(({ id }) => !members.has(id)).map(({ id, name, zone }) => ({ id, name, zone: zone.name }))
  return (
    <Panel title={`Members, ${members.size}`}>
      {roster.vms.length > 0 && (
        <RecordList
          label={strings.members}
          rows={roster.vms}
          id={(vm) => vm.id}
          bulk={
            edits && {
              nouns: [strings.vm, strings.vms],
              name: ({ name }) => name,
              actions: [actOnRows(strings.remove, remove, strings.removeMembersEffect)],
            }
          }
          columns={[
            { title: strings.vm, as: 'head', by: { key: 'name', value: (vm) => vm.name } },
            { title: strings.zone, by: { key: 'zone', value: (vm) => vm.zone_name } },
            ...(edits
              ? [
                  {
                    title: strings.actions,
                    cell: (vm: RosterVm) => (
                      <RowAction label={strings.removeName(vm.name)} onClick={() => remove.mutate(vm.id)}>
                        {strings.remove}
                      </RowAction>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
      <EditorsOnly>
        <VmToAdd
          label={strings.addVm}
          vms={others}
          none={vms?.length === 0 ? strings.noVmEnrolled : strings.everyVmIsMember}
          next={
            <WordLink to="/onboarding" search={{ mesh: mesh.id }}>
              {strings.enrolVm}
            </WordLink>
          }
          onAdd={(vmId) => add.mutate(vmId)}
        />
      </EditorsOnly>
      <ActionError error={add.error ?? remove.error ?? (vms ? null : failed)} />
    </Panel>
  )
}

function DeleteMesh({ mesh }: { mesh: Mesh }) {
  const navigate = useNavigate()
  const remove = useDeleteMesh()
  return (
    <Panel title={strings.deleteMesh}>
      <div>
        <DeleteButton name={mesh.name} id={mesh.id} doing={remove} onDone={() => void navigate({ to: '/meshes' })}>
          {strings.deleteMeshEffect}
        </DeleteButton>
      </div>
    </Panel>
  )
}
