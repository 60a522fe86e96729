import { useMatches } from '@tanstack/react-router'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** True for a page that is made for wall screens too. */
    isForWalls?: boolean
  }
}

/** Return true when the open page can be shown on a wall screen. */
export const useKioskPage = (): boolean =>
  useMatches({ select: (matches) => matches.some(({ staticData }) => staticData.isForWalls) })
