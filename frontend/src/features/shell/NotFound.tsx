import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Empty } from '~/ui/State'
import { strings } from './strings'

export function NotFound() {
  return (
    <Empty
      title={strings.pageNotFound}
      action={<Anchor renderRoot={(root) => <Link {...root} to="/" />}>{strings.goToHeatmap}</Anchor>}
    >
      {strings.pageNotFoundLead}
    </Empty>
  )
}
