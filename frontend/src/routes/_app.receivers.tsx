import { createFileRoute } from '@tanstack/react-router'
import { ReceiversPage } from '~/features/alerts/receivers/ReceiversPage'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/_app/receivers')({
  staticData: { title: strings.whoIsTold, help: 'alerts#notifications' },
  component: ReceiversPage,
})
