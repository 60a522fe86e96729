import { createFileRoute } from '@tanstack/react-router'
import { AnnotationsPage } from '~/features/annotations/AnnotationsPage'
import { annotationsSearch } from '~/features/annotations/search'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/annotations')({
  staticData: { title: strings.annotations, help: 'alerts#annotations' },
  validateSearch: annotationsSearch,
  component: AnnotationsRoute,
})

function AnnotationsRoute() {
  return <AnnotationsPage search={Route.useSearch()} onSearch={useSearchPatch(annotationsSearch)} />
}
