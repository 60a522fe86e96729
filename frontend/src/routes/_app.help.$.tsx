import { load } from 'virtual:help'
import { createFileRoute, notFound } from '@tanstack/react-router'
import { HelpPage } from '~/features/help/HelpPage'
import { NotFound } from '~/features/shell/NotFound'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/help/$')({
  staticData: { title: strings.help },
  loader: async ({ params }) => {
    // Without a name, the first page.
    const name = params._splat || 'console'
    const page = await load[name]?.()
    if (!page) throw notFound()
    return { name, page: page.default }
  },
  notFoundComponent: NotFound,
  component: HelpRoute,
})

function HelpRoute() {
  const { name, page } = Route.useLoaderData()
  return <HelpPage key={name} name={name} page={page} />
}
