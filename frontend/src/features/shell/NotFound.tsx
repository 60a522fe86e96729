import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Empty } from '~/ui/State'
import { strings } from './strings'

/** The page for an unknown address. It is outside the shell, so it has its own `main` landmark. */
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
