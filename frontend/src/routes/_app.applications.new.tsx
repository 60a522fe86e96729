import { createFileRoute } from '@tanstack/react-router'
import { NewApplicationPage } from '~/features/applications/NewApplicationPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/applications/new')({
  staticData: { title: strings.newApplication, help: 'recommendations#adding-an-application' },
  component: NewApplicationPage,
})
