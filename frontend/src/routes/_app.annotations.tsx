import { createFileRoute } from '@tanstack/react-router'
import { useCallback } from 'react'
import { AnnotationsPage } from '~/features/annotations/AnnotationsPage'
import { type AnnotationsSearch, annotationsSearch } from '~/features/annotations/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/annotations')({
  staticData: { title: strings.annotations, help: 'alerts#annotations' },
  validateSearch: annotationsSearch,
  component: AnnotationsRoute,
})

function AnnotationsRoute() {
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  const onSearch = useCallback(
    (patch: AnnotationsSearch) =>
      void navigate({ search: (old) => annotationsSearch({ ...old, ...patch }), replace: true, resetScroll: false }),
    [navigate],
  )
  return <AnnotationsPage search={search} onSearch={onSearch} />
}
