import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Member, useSetMeshes } from '~/api/members'
import { meshesQuery } from '~/api/meshes'
import { Dialog } from '~/ui/Dialog'
import { FormActions } from '~/ui/FormActions'
import { limitOf, MeshChoice } from '~/ui/MeshChoice'
import { ActionError } from '~/ui/State'
import { strings } from './strings'

/** Dialog that limits a member to some meshes; null while it is closed. */
export function MemberMeshes({ member, onClose }: { member: Member | null; onClose: () => void }) {
  return (
    <Dialog title={strings.meshesOf(member?.email ?? '')} opened={member !== null} onClose={onClose}>
      {member && <Form key={member.id} member={member} onClose={onClose} />}
    </Dialog>
  )
}

function Form({ member, onClose }: { member: Member; onClose: () => void }) {
  const meshes = useQuery(meshesQuery)
  const set = useSetMeshes()
  const [ids, setIds] = useState(() => (member.meshes ?? []).map(({ id }) => id))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        set.mutate({ id: member.id, meshIds: limitOf(ids) }, { onSuccess: onClose })
      }}
    >
      <p>{strings.meshesHint}</p>
      <MeshChoice
        label={strings.meshes}
        all={strings.allMeshes}
        meshes={meshes.data ?? []}
        value={ids}
        onChange={setIds}
      />
      <ActionError error={set.error ?? meshes.error} />
      <FormActions onCancel={onClose} saving={set.isPending} />
    </form>
  )
}
