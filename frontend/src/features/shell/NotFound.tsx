import { TextLink } from '~/ui/links'
import { useNamedPage } from '~/ui/pageName'
import { Empty } from '~/ui/State'
import { strings } from './strings'

/** The page for an unknown address. */
export function NotFound() {
  useNamedPage(strings.pageNotFound)
  return (
    <Empty
      title={strings.pageNotFound}
      action={
        <TextLink size="md" to="/">
          {strings.goToOverview}
        </TextLink>
      }
    >
      {strings.pageNotFoundLead}
    </Empty>
  )
}
