import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '~/api/access'
import { meshesQuery } from '~/api/meshes'
import type { EnrolmentToken } from '~/api/types'
import { Page } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { Arrivals } from './Arrivals'
import { InviteStep } from './InviteStep'
import { MeshStep } from './MeshStep'
import styles from './onboarding.module.css'
import { strings } from './strings'

interface Props {
  meshId: string | undefined
  onMesh: (meshId: string) => void
}

/** First steps: choose a mesh, create a command, watch machines arrive. */
export function OnboardingPage({ meshId, onMesh }: Props) {
  const meshes = useQuery(meshesQuery)
  const { data: session } = useQuery(sessionQuery)
  const [token, setToken] = useState<EnrolmentToken | null>(null)
  if (!meshes.data) {
    return <Unloaded query={meshes} title={strings.addVm} what={strings.meshesLower} failed={strings.meshes} />
  }
  const mesh = meshes.data.find(({ id }) => id === meshId) ?? (meshId === undefined ? meshes.data[0] : undefined)
  return (
    <Page title={strings.addVm} lead={strings.addVmLead}>
      {session?.role === 'viewer' && <Notice tone="info">{strings.viewerHint}</Notice>}
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
