import { createFileRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { ApiReference } from '~/features/reference/ApiReference'
import { strings } from '~/features/shell/strings'
import { searchParser } from '~/lib/searchParams'

export const Route = createFileRoute('/_app/help/reference')({
  staticData: { title: strings.apiReference, help: 'api/README' },
  validateSearch: searchParser<{ operation?: string }>({ operation: v.string() }),
  component: Reference,
})

function Reference() {
  return <ApiReference name={Route.useSearch().operation} />
}
