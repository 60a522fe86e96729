/** Search parameters of the page of annotations. */

import { flag, identifier, searchParser } from '~/lib/searchParams'

export interface AnnotationsSearch {
  /** The dialog for a new annotation is open. */
  add?: true
  /** The mesh that a new annotation is about; all meshes when absent. */
  mesh?: string
}

export const annotationsSearch = searchParser<AnnotationsSearch>({ add: flag, mesh: identifier })
