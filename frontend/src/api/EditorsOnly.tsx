import type { ReactNode } from 'react'
import { useEdits } from './access'

/** Show actions to those who may edit: viewers do not see actions that the API refuses them. */
export function EditorsOnly({ children }: { children: ReactNode }) {
  return useEdits() ? children : null
}
