import { createFileRoute } from '@tanstack/react-router'
import { ApplicationPage } from '~/features/applications/ApplicationPage'
import { nextSearch } from '~/features/applications/search'
import { strings } from '~/features/shell/strings'
import { useSearchPatch } from '~/ui/useSearchPatch'

export const Route = createFileRoute('/_app/applications/$applicationId')({
  staticData: { title: strings.application, help: 'recommendations#options' },
  validateSearch: nextSearch,
  component: ApplicationRoute,
})

function ApplicationRoute() {
  const { applicationId } = Route.useParams()
  return (
    <ApplicationPage applicationId={applicationId} search={Route.useSearch()} onSearch={useSearchPatch(nextSearch)} />
  )
}
