import { Button } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useCreateMesh } from '~/api/meshes'
import type { Mesh } from '~/api/types'
import { named } from '~/lib/options'
import { Problem } from '~/lib/problem'
import { Choice } from '~/ui/Choice'
import { MeshFields, meshOf } from '~/ui/MeshFields'
import { ActionError } from '~/ui/State'
import styles from './onboarding.module.css'
import { strings } from './strings'

interface Props {
  meshes: Mesh[]
  mesh: Mesh | undefined
  onMesh: (meshId: string) => void
}

/** Choose the mesh that the machines join. */
export function MeshStep({ meshes, mesh, onMesh }: Props) {
  const create = useCreateMesh()
  const [making, setMaking] = useState(false)
  const field = (name: string) => (create.error instanceof Problem ? create.error.field(name) : undefined)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    create.mutate(meshOf(event.currentTarget), {
      onSuccess: (mesh) => {
        setMaking(false)
        onMesh(mesh.id)
      },
    })
  }

  return (
    <section className={styles.step}>
      <h2>{strings.chooseMesh}</h2>
      <p className={styles.lead}>{strings.meshLead}</p>
      {meshes.length > 0 && !making ? (
        <div className={styles.row}>
          <Choice aria-label={strings.meshToJoin} w={220} data={named(meshes)} value={mesh?.id} onChange={onMesh} />
          <Button size="sm" variant="default" onClick={() => setMaking(true)}>
            {strings.newMesh}
          </Button>
        </div>
      ) : (
        <form className={styles.row} onSubmit={submit}>
          <MeshFields problem={field} />
          <Button type="submit" size="sm" loading={create.isPending}>
            {strings.createMesh}
          </Button>
          {meshes.length > 0 && (
            <Button size="sm" variant="default" onClick={() => setMaking(false)}>
              {strings.cancel}
            </Button>
          )}
        </form>
      )}
      <ActionError error={create.error} />
    </section>
  )
}
