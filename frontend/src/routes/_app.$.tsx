import { createFileRoute } from '@tanstack/react-router'
import { NotFound } from '~/features/shell/NotFound'
import { strings } from '~/features/shell/strings'

/** Every address that no other route has. */
export const Route = createFileRoute('/_app/$')({ staticData: { title: strings.pageNotFound }, component: NotFound })
