import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Member, useSetMeshes } from '~/api/members'
import { meshesQuery } from '~/api/meshes'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { Dialog } from '~/ui/Dialog'
import { FormActions } from '~/ui/FormActions'
import { limitOf, MeshChoice } from '~/ui/MeshChoice'
import { Notice } from '~/ui/State'
import { useEdited } from '~/ui/useEdited'
import { meshNames, strings } from './strings'

interface Props {
  /** The member as read last; null while the dialog is closed. */
  member: Member | null
  onClose: () => void
}

/** Dialog that limits a member to some meshes. */
export function MemberMeshes({ member, onClose }: Props) {
  return (
    <Dialog title={strings.meshesOf(member?.email ?? '')} opened={member !== null} onClose={onClose}>
      {member && <Form key={member.id} member={member} onClose={onClose} />}
    </Dialog>
  )
}

const linesOf = ({ meshes, role }: Pick<Member, 'meshes' | 'role'>) => ({
  [strings.meshes]: meshNames(meshes),
  [strings.role]: strings.roleName(role),
})
const idsOf = ({ meshes }: Pick<Member, 'meshes'>) => (meshes ?? []).map(({ id }) => id)

function Form({ member, onClose }: Props & { member: Member }) {
  const meshes = useQuery(meshesQuery)
  const set = useSetMeshes()
  const { meshes: limit, role } = member
  const edited = useEdited({ meshes: limit, role }, String(member.version), linesOf)
  const [ids, setIds] = useState(() => idsOf(member))

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    set.mutate({ id: member.id, version: edited.version, meshIds: limitOf(ids) }, { onSuccess: onClose })
  }

  /** Keep the choice if the person has made one. */
  function keep() {
    const isUntouched = JSON.stringify(ids) === JSON.stringify(idsOf(edited.before))
    edited.take()
    if (isUntouched) setIds(idsOf(member))
  }

  return (
    <form onSubmit={submit}>
      <p>{strings.meshesHint}</p>
      <MeshChoice
        label={strings.meshes}
        all={strings.allMeshes}
        meshes={meshes.data ?? []}
        value={ids}
        onChange={setIds}
      />
      {ids.length === 0 && limit && <Notice tone="warn">{strings.seesAllAgain(meshNames(limit))}</Notice>}
      <ChangedMeanwhile
        edited={{ changes: edited.changes, keep, take: () => setIds(idsOf(edited.take())) }}
        error={set.error ?? meshes.error}
        typed={() => undefined}
      />
      <FormActions onCancel={onClose} saving={set.isPending} />
    </form>
  )
}
