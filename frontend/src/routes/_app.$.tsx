import { createFileRoute } from '@tanstack/react-router'
import { NotFound } from '~/features/shell/NotFound'

/** Every address that no other route has. */
export const Route = createFileRoute('/_app/$')({ component: NotFound })
