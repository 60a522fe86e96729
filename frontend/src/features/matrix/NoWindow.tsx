import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { meshHealthQuery } from '~/api/overview'
import type { Mesh } from '~/api/types'
import { Notice } from '~/ui/State'
import { strings } from './strings'

/** Why a mesh with VMs has no window: the first one is on its way, or no path is planned and none will come. */
export function NoWindow({ mesh }: { mesh: Mesh }) {
  const { data } = useQuery(meshHealthQuery(mesh.id))
  if (!data) return null
  if (data.paths.planned > 0) return <Notice tone="info">{strings.waitingForWindow(mesh.window_s)}</Notice>
  return (
    <Notice tone="warn">
      {strings.noAgent}{' '}
      <Link to="/onboarding" search={{ mesh: mesh.id }}>
        {strings.addVm}
      </Link>
    </Notice>
  )
}
