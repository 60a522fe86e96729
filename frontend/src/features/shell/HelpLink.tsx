import { ActionIcon, Tooltip } from '@mantine/core'
import { Link, useMatches } from '@tanstack/react-router'
import { HelpIcon } from '~/ui/icons'
import { strings } from './strings'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page of the help about this page, with a section: "alerts#rules". */
    help?: string
  }
}

/** A link to the help about the open page; to the console's own from pages without one. */
export function HelpLink() {
  const help = useMatches({ select: (matches) => matches.at(-1)?.staticData.help })
  const [name = 'console', section] = help?.split('#') ?? []
  return (
    <Tooltip label={strings.helpHint}>
      <ActionIcon
        variant="subtle"
        color="gray"
        c="var(--ink-2)"
        size={28}
        aria-label={strings.helpHint}
        renderRoot={(root) => (
          <Link {...root} to="/help/$" params={{ _splat: name }} {...(section ? { hash: section } : {})} />
        )}
      >
        <HelpIcon />
      </ActionIcon>
    </Tooltip>
  )
}
