import { useMatches } from '@tanstack/react-router'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The name of the page while the page has not named itself. */
    title?: string
  }
}

/** Return the name that the route of the shown page gives it. */
export const useRouteTitle = () =>
  useMatches({ select: (matches) => matches.findLast(({ staticData }) => staticData.title)?.staticData.title })
