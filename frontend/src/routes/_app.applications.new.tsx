import { createFileRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { NewApplicationPage } from '~/features/applications/NewApplicationPage'
import { strings } from '~/features/shell/strings'
import { identifier, searchParser } from '~/lib/searchParams'

export const Route = createFileRoute('/_app/applications/new')({
  staticData: { title: strings.newApplication, help: 'recommendations#adding-an-application' },
  validateSearch: searchParser<{ mesh?: string; proposals?: string }>({
    mesh: identifier,
    proposals: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}(,[0-9a-f]{16})*$/)),
  }),
  component: function NewApplication() {
    const { mesh, proposals } = Route.useSearch()
    return <NewApplicationPage mesh={mesh} {...(proposals && { proposals: proposals.split(',') })} />
  },
})
