import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { meshHealthQuery } from '~/api/overview'
import type { Mesh } from '~/api/types'
import { Notice } from '~/ui/State'
import { strings } from './strings'

/** Why a mesh with VMs has no window: no agent has reported, the first one is on its way, or no path is planned. */
export function NoWindow({ mesh }: { mesh: Mesh }) {
  const { data } = useQuery(meshHealthQuery(mesh.id))
  if (!data) return null
  const { reporting, silent, enrolled } = data.agents
  if (data.paths.planned > 0 && reporting + silent === 0) {
    return (
      <Notice tone="info" title={strings.neverReported(enrolled)}>
        {strings.neverReportedNext(mesh.window_s)} <Link to="/vms">{strings.seeVms}</Link>
      </Notice>
    )
  }
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
