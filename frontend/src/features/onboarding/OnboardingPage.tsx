import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '~/api/access'
import { meshesQuery } from '~/api/meshes'
import type { EnrolmentToken } from '~/api/types'
import { Page } from '~/ui/Page'
import { Failed, Loading, Notice } from '~/ui/State'
import { Arrivals } from './Arrivals'
import { InviteStep } from './InviteStep'
import { MeshStep } from './MeshStep'
import styles from './onboarding.module.css'

interface Props {
  meshId: string | undefined
  onMesh: (meshId: string) => void
}

/** From nothing to a first measured path: a mesh, a command, and watching it work. */
export function OnboardingPage({ meshId, onMesh }: Props) {
  const meshes = useQuery(meshesQuery)
  const { data: session } = useQuery(sessionQuery)
  const [token, setToken] = useState<EnrolmentToken | null>(null)
  if (meshes.error && !meshes.data) {
    return <Failed what="The list of meshes" error={meshes.error} retry={() => void meshes.refetch()} />
  }
  if (!meshes.data) return <Loading what="meshes" />
  const mesh = meshes.data.find(({ id }) => id === meshId) ?? (meshId === undefined ? meshes.data[0] : undefined)
  return (
    <Page
      title="Add a VM"
      lead="Run one command on each machine. Its delays appear a few seconds after the second one reports."
    >
      {session?.role === 'viewer' && (
        <Notice tone="info">Your role is viewer: ask an editor or owner to enrol machines.</Notice>
      )}
      <ol className={styles.steps}>
        <li>
          <MeshStep
            meshes={meshes.data}
            mesh={mesh}
            onMesh={(id) => {
              setToken(null)
              onMesh(id)
            }}
          />
        </li>
        <li aria-disabled={!mesh}>
          <InviteStep mesh={mesh} token={token} onToken={setToken} />
        </li>
        <li aria-disabled={!mesh}>
          <Arrivals mesh={mesh} since={token?.created_at ?? null} />
        </li>
      </ol>
    </Page>
  )
}
