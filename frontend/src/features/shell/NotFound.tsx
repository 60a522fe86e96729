import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Empty } from '~/ui/State'

export function NotFound() {
  return (
    <Empty
      title="There is no page at this address"
      action={<Anchor renderRoot={(root) => <Link {...root} to="/" />}>Go to the overview</Anchor>}
    >
      It may have been removed, or the address is not complete.
    </Empty>
  )
}
