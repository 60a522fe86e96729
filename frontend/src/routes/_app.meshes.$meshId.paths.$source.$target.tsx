import { useSuspenseQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { PATH_SPAN } from '~/api/measurements'
import { meshQuery } from '~/api/meshes'
import { VmHostWaits } from '~/features/inventory/VmHostWaits'
import { PathPage } from '~/features/paths/PathPage'
import { pathSearch } from '~/features/paths/search'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/meshes/$meshId/paths/$source/$target')({
  staticData: {
    title: strings.path,
    help: 'console#path',
    isForWalls: true,
    embed: 'path',
    time: { span: PATH_SPAN, compares: true },
  },
  validateSearch: pathSearch,
  component: PathRoute,
})

function PathRoute() {
  const { meshId, source, target } = Route.useParams()
  const { data } = useSuspenseQuery(meshQuery(meshId))
  return (
    <PathPage
      mesh={data.mesh}
      source={source}
      target={target}
      search={Route.useSearch()}
      ofVm={(vmId, name) => <VmHostWaits key={vmId} vmId={vmId} name={name} span={PATH_SPAN} />}
      onSearch={useSearchPatch(pathSearch)}
    />
  )
}
