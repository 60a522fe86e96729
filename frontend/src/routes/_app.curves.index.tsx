import { createFileRoute } from '@tanstack/react-router'
import { GalleryPage } from '~/features/curves/GalleryPage'
import { curvesSearch } from '~/features/curves/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/curves/')({
  staticData: { title: strings.curves, help: 'curves' },
  validateSearch: curvesSearch,
  component: CurvesRoute,
})

function CurvesRoute() {
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <GalleryPage
      search={search}
      onSearch={(patch) =>
        void navigate({ search: (old) => curvesSearch({ ...old, ...patch }), replace: true, resetScroll: false })
      }
    />
  )
}
