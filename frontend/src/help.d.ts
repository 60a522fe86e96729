/** Modules that the build makes of the documentation: see help/documentation.ts. */

declare module 'virtual:help' {
  export type HelpPage = import('../help/documentation').HelpPage
  export const contents: { name: string; title: string }[]
  export const load: Record<string, () => Promise<{ default: HelpPage }>>
}

declare module 'virtual:glossary' {
  import type { Term } from '../help/documentation'

  const terms: Record<string, Term>
  export default terms
}
