import { createFileRoute } from '@tanstack/react-router'
import { AdvisorsPage } from '~/features/advisors/AdvisorsPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/advisors/')({
  staticData: { title: strings.advisors, help: 'advisors' },
  component: AdvisorsPage,
})
