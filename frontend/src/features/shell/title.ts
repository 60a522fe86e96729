/** Return the title of the window: "(2) c-2 → b-1 · demo · Sinemora". */
export function titleOf(page: string | undefined, mesh: string | undefined, openIncidents: string | undefined): string {
  const parts = [page, mesh, 'Sinemora'].filter((part) => part !== undefined)
  return `${openIncidents ? `(${openIncidents}) ` : ''}${parts.join(' · ')}`
}
