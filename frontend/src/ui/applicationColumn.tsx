import { words } from '~/lib/words'
import { TextLink } from './links'

/** The column of a table that names an application and leads to its page. */
export const applicationColumn = {
  title: words.application,
  cell: ({ id, name }: { id: string; name: string }) => (
    <TextLink to="/applications/$applicationId" params={{ applicationId: id }}>
      {name}
    </TextLink>
  ),
  as: 'head',
} as const
