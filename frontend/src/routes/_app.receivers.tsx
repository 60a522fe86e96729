import { createFileRoute } from '@tanstack/react-router'
import { ReceiversPage } from '~/features/alerts/receivers/ReceiversPage'

export const Route = createFileRoute('/_app/receivers')({ component: ReceiversPage })
