import { createFileRoute } from '@tanstack/react-router'
import { GalleryPage } from '~/features/curves/GalleryPage'
import { curvesSearch } from '~/features/curves/search'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/curves/')({
  staticData: { title: strings.curves, help: 'curves' },
  validateSearch: curvesSearch,
  component: CurvesRoute,
})

function CurvesRoute() {
  return <GalleryPage search={Route.useSearch()} onSearch={useSearchPatch(curvesSearch)} />
}
