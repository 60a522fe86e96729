import { useMatches } from '@tanstack/react-router'
import { useEffect } from 'react'
import { usePageName } from '~/ui/pageName'
import { useAddressedMesh } from './MeshPicker'
import { useOpenIncidents } from './openIncidents'
import { titleOf } from './title'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The name of the page in the title of the window, while the page has not named itself. */
    title?: string
  }
}

function useTitle(mesh: string | undefined, openIncidents: string | undefined) {
  const route = useMatches({
    select: (matches) => matches.findLast(({ staticData }) => staticData.title)?.staticData.title,
  })
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
