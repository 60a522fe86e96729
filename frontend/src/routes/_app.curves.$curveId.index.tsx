import { createFileRoute } from '@tanstack/react-router'
import { CurvePage } from '~/features/curves/CurvePage'
import { curveSearch } from '~/features/curves/search'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/curves/$curveId/')({
  staticData: { title: strings.curve, help: 'curves#reading-the-band' },
  validateSearch: curveSearch,
  component: CurveRoute,
})

function CurveRoute() {
  const { curveId } = Route.useParams()
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <CurvePage
      curveId={curveId}
      search={search}
      onSearch={(patch) =>
        void navigate({ search: (old) => curveSearch({ ...old, ...patch }), replace: true, resetScroll: false })
      }
    />
  )
}
