import { createFileRoute } from '@tanstack/react-router'
import { CurvePage } from '~/features/curves/CurvePage'
import { curveSearch } from '~/features/curves/search'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/curves/$curveId/')({
  staticData: { title: strings.curve, help: 'curves#reading-the-band' },
  validateSearch: curveSearch,
  component: CurveRoute,
})

function CurveRoute() {
  const { curveId } = Route.useParams()
  return <CurvePage curveId={curveId} search={Route.useSearch()} onSearch={useSearchPatch(curveSearch)} />
}
