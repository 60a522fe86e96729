import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useNamedPage } from '~/ui/pageName'
import { Empty } from '~/ui/State'
import { strings } from './strings'

/** The page for an unknown address. */
export function NotFound() {
  useNamedPage(strings.pageNotFound)
  return (
    <Empty
      title={strings.pageNotFound}
      action={<Anchor renderRoot={(root) => <Link {...root} to="/" />}>{strings.goToOverview}</Anchor>}
    >
      {strings.pageNotFoundLead}
    </Empty>
  )
}
