import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Empty } from '~/ui/State'
import { strings } from './strings'

/** The page of an address that leads nowhere; it is outside the frame, so it brings its own landmark. */
export function NotFound() {
  return (
    <main>
      <Empty
        title={strings.pageNotFound}
        action={<Anchor renderRoot={(root) => <Link {...root} to="/" />}>{strings.goToHeatmap}</Anchor>}
      >
        {strings.pageNotFoundLead}
      </Empty>
    </main>
  )
}
