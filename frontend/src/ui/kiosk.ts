import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

/** Return true on a wall screen: pages without navigation, from the address. */
export function useKiosk(): boolean {
  const search: { kiosk?: boolean } = useSearch({ strict: false })
  return search.kiosk === true
}

/** Return a function that enters or leaves the kiosk mode of the open page. */
export function useSetKiosk() {
  const navigate = useNavigate()
  return useCallback(
    (kiosk: boolean) =>
      // Undefined removes the parameter, which links would else take along.
      void navigate({
        to: '.',
        search: ((old: object) => ({ ...old, kiosk: kiosk || undefined })) as never,
        resetScroll: false,
      }),
    [navigate],
  )
}
