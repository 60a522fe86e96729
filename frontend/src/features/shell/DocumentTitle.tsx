import { useEffect } from 'react'
import { usePageName } from '~/ui/pageName'
import { useRouteTitle } from '~/ui/routeTitle'
import { useAddressedMesh } from './MeshPicker'
import { useOpenIncidents } from './openIncidents'
import { titleOf } from './title'

function useTitle(mesh: string | undefined, openIncidents: string | undefined) {
  const route = useRouteTitle()
  const name = usePageName()
  const title = titleOf(name ?? route, mesh, openIncidents)
  useEffect(() => {
    document.title = title
  }, [title])
}

/** Write the title of the window: the page, its mesh, and the number of open incidents. */
export function DocumentTitle() {
  useTitle(useAddressedMesh()?.name, useOpenIncidents())
  return null
}

/** Write the title of a page outside the shell, where no one is signed in. */
export function PublicTitle() {
  useTitle(undefined, undefined)
  return null
}
