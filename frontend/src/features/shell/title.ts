/** Return the title of the window: "(2) c-2 → b-1 · demo · Sinemora". A page named after its mesh names it once. */
export function titleOf(page: string | undefined, mesh: string | undefined, openIncidents: string | undefined): string {
  const isNamed = mesh !== undefined && page?.endsWith(` ${mesh}`)
  const parts = [page, isNamed ? undefined : mesh, 'Sinemora'].filter((part) => part !== undefined)
  return `${openIncidents ? `(${openIncidents}) ` : ''}${parts.join(' · ')}`
}
