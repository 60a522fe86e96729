import { useEffect } from 'react'
import { createStore, useStore } from '~/lib/store'

const pageName = createStore<string | null>(null)

/** Return the name that the open page gave itself. */
export const usePageName = () => useStore(pageName)

/** Name the open page, for the title of the window; without a name the title keeps that of the route. */
export function useNamedPage(name: string | undefined) {
  useEffect(() => {
    if (name === undefined) return
    pageName.set(name)
    return () => pageName.set(null)
  }, [name])
}
